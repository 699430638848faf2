-- Part of TURN: set money aside for the step's next call.
-- ARGV: task, token, amount, installation, most of a repository's day, most of an installation's month (0: no bound).
-- Returns 1, 0 when there is not that much left or the run waits for people to give it more, -1 for a stale token.
local task, key = ARGV[1], P .. 'task:' .. ARGV[1]
local amount, installation = whole(ARGV[3], 'amount'), ARGV[4]
local day, month = whole(ARGV[5], 'most of a day'), whole(ARGV[6], 'most of a month')
whole(installation, 'installation')
if not holds(task, ARGV[2]) then return -1 end
local id = redis.call('HGET', key, 'run')
local run, at = P .. 'run:' .. id, now()
local f = redis.call('HMGET', run, 'budget', 'spent', 'reserved', 'unconfirmed', 'paused')
local mine = tonumber(redis.call('HGET', key, 'reserved'))
if f[5] then return 0 end
if tonumber(f[1]) - tonumber(f[2]) - tonumber(f[4]) - (tonumber(f[3]) - mine) < amount then return 0 end
if day > 0 and tonumber(redis.call('GET', day_key(id, at)) or '0') + amount > day then return 0 end
if month > 0 and tonumber(redis.call('GET', month_key(installation, at)) or '0') + amount > month then return 0 end
redis.call('HINCRBY', run, 'reserved', amount - mine)
redis.call('HSET', key, 'reserved', amount)
redis.call('HSET', run, 'installation', installation)
return 1
