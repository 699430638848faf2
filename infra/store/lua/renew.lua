-- RENEW: push the lease out. ARGV: task, token, lease ms. Returns 1, or 0 when the step is somebody else's or cancelled.
if not holds(ARGV[1], ARGV[2]) then return 0 end
redis.call('ZADD', P .. 'due', 'XX', now() + tonumber(ARGV[3]), ARGV[1])
return 1
