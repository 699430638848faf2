-- CLAIM: take a due step under a lease. ARGV: task, worker, lease ms. Returns nil, or the step's fields with the new token.
local task, key = ARGV[1], P .. 'task:' .. ARGV[1]
local lease = whole(ARGV[3], 'lease')
local at = now()
local score = redis.call('ZSCORE', P .. 'due', task)
if not score or tonumber(score) > at then return nil end
local f = redis.call('HMGET', key, 'run', 'node', 'state', 'inputs', 'visit', 'reserved')
if f[3] ~= 'due' and f[3] ~= 'leased' and f[3] ~= 'parked' then
  redis.call('ZREM', P .. 'due', task)
  return nil
end
local run, node = f[1], f[2]
local status = redis.call('HGET', P .. 'run:' .. run, 'status')
if not (status == 'open' or node == 'status' or (status == 'cancelling' and node == 'close')) then
  redis.call('ZREM', P .. 'due', task)
  return nil
end
-- A call that was under way when its owner died may have been billed: it stays counted, as unconfirmed.
local orphan = tonumber(f[6])
if orphan > 0 then
  redis.call('HINCRBY', P .. 'run:' .. run, 'reserved', -orphan)
  redis.call('HINCRBY', P .. 'run:' .. run, 'unconfirmed', orphan)
end
local token = redis.call('HINCRBY', key, 'token', 1)
local attempts = redis.call('HINCRBY', key, 'attempts', 1)
redis.call('HSET', key, 'state', 'leased', 'worker', ARGV[2], 'reserved', 0)
redis.call('ZADD', P .. 'due', at + lease, task)
return {run, node, f[4], f[5], token, attempts, redis.call('HGET', key, 'pokes')}
