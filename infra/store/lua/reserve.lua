-- Part of TURN: set money aside for the step's next call. ARGV: task, token, amount.
-- Returns 1, 0 when the run has not that much left, -1 for a stale token.
local task, key = ARGV[1], P .. 'task:' .. ARGV[1]
local amount = whole(ARGV[3], 'amount')
if not holds(task, ARGV[2]) then return -1 end
local run = P .. 'run:' .. redis.call('HGET', key, 'run')
local f = redis.call('HMGET', run, 'budget', 'spent', 'reserved', 'unconfirmed')
local mine = tonumber(redis.call('HGET', key, 'reserved'))
if tonumber(f[1]) - tonumber(f[2]) - tonumber(f[4]) - (tonumber(f[3]) - mine) < amount then return 0 end
redis.call('HINCRBY', run, 'reserved', amount - mine)
redis.call('HSET', key, 'reserved', amount)
return 1
