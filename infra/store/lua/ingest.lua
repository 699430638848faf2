-- INGEST: a delivery's events onto the bus, once. ARGV: delivery id, body digest or '', ttl ms, event JSON ...
whole(ARGV[3], 'time to live')
local delivery, body = P .. 'dlv:' .. ARGV[1], P .. 'body:' .. ARGV[2]
if redis.call('EXISTS', delivery) == 1 then return 0 end
local repeated = ARGV[2] ~= '' and redis.call('EXISTS', body) == 1
redis.call('SET', delivery, '1', 'PX', ARGV[3])
if repeated then return 0 end
if ARGV[2] ~= '' then redis.call('SET', body, ARGV[1], 'PX', ARGV[3]) end
for i = 4, #ARGV do publish(ARGV[i]) end
return 1
