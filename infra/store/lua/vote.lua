-- VOTE: what people said, once per cause; wakes the run's waiting steps. With nothing said it only wakes them.
-- ARGV: run, cause, budget to add, number of steers, number of entries, steers ..., entries ..., events ...
-- Returns 1, 0 when the cause was known, -2 when the run is not open.
local run, runkey = ARGV[1], P .. 'run:' .. ARGV[1]
if redis.call('HGET', runkey, 'status') ~= 'open' then return -2 end
if redis.call('HSETNX', P .. 'causes:' .. run, ARGV[2], '1') == 0 then return 0 end
local at = now()
local steers, entries = tonumber(ARGV[4]), tonumber(ARGV[5])
if tonumber(ARGV[3]) ~= 0 then redis.call('HINCRBY', runkey, 'budget', ARGV[3]) end
for i = 6, 5 + steers do redis.call('RPUSH', P .. 'steers:' .. run, ARGV[i]) end
for i = 6 + steers, 5 + steers + entries do append(run, 'entry', ARGV[i], at) end
for i = 6 + steers + entries, #ARGV do
  append(run, 'event', ARGV[i], at)
  publish(unsealed(ARGV[i]))
end
for _, task in ipairs(redis.call('SMEMBERS', P .. 'tasks:' .. run)) do poke(task, at) end
if #ARGV > 5 + steers then decide(run, at) end
return 1
