-- DROP: remove a blob, unless somebody put it a short while ago and may be about to name it. ARGV: digest.
if redis.call('EXISTS', P .. 'hold:' .. ARGV[1]) == 1 then return 0 end
return redis.call('DEL', P .. 'blob:' .. ARGV[1])
