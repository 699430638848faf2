-- The book of deliveries that were asked for again. ARGV: delivery guid, count that was seen ('' to look only), keep ms.
-- Returns {count, ms since the last}, or {-1, 0} when somebody else has asked since.
local key = P .. 'again:' .. ARGV[1]
local f = redis.call('HMGET', key, 'count', 'at')
local count, at = tonumber(f[1] or '0'), now()
if ARGV[2] == '' then
  if count == 0 then return {0, 0} end
  return {count, at - tonumber(f[2])}
end
if count ~= tonumber(ARGV[2]) then return {-1, 0} end
redis.call('HSET', key, 'count', count + 1, 'at', string.format('%.0f', at))
redis.call('PEXPIRE', key, ARGV[3])
return {count + 1, 0}
