-- VOTE: what people said, once per cause; wakes the run's waiting steps. With nothing said it only wakes them.
-- ARGV: run, cause, budget to add, the most it may come to (0: no bound), record of a halt (or ''), number of steers,
-- number of entries, steers ..., entries ..., events ...
-- Returns 1, 0 when the cause was known, -2 when the run is not open, -3 when the budget would be over its bound.
local run, runkey = ARGV[1], P .. 'run:' .. ARGV[1]
if redis.call('HGET', runkey, 'status') ~= 'open' then return -2 end
local more, most = tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call('HEXISTS', P .. 'causes:' .. run, ARGV[2]) == 1 then return 0 end
if most > 0 and tonumber(redis.call('HGET', runkey, 'budget')) + more > most then return -3 end
redis.call('HSET', P .. 'causes:' .. run, ARGV[2], '1')
local at = now()
local steers, entries = tonumber(ARGV[6]), tonumber(ARGV[7])
if more ~= 0 then redis.call('HINCRBY', runkey, 'budget', ARGV[3]) end
for i = 8, 7 + steers do redis.call('RPUSH', P .. 'steers:' .. run, ARGV[i]) end
for i = 8 + steers, 7 + steers + entries do append(run, 'entry', ARGV[i], at) end
for i = 8 + steers + entries, #ARGV do
  append(run, 'event', ARGV[i], at)
  publish(unsealed(ARGV[i]))
end
if ARGV[5] ~= '' then
  halt(run, ARGV[5], at)
  return 1
end
for _, task in ipairs(redis.call('SMEMBERS', P .. 'tasks:' .. run)) do poke(task, at) end
if #ARGV > 7 + steers then decide(run, at) end
return 1
