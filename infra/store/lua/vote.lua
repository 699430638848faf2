-- VOTE: what people said, once per cause; wakes the run's waiting steps. With nothing said it only wakes them.
-- ARGV: run, cause, budget to add, the most it may come to (0: no bound), record of a halt (or ''), number of steers,
-- number of entries, steers ..., entries ..., events ...
-- Returns 1, 0 when the cause was known, -2 when the run is not open, -3 when the budget would be over its bound.
local run, runkey = ARGV[1], P .. 'run:' .. ARGV[1]
local more, most = whole(ARGV[3], 'budget'), whole(ARGV[4], 'bound')
local steers, entries = whole(ARGV[6], 'number of steers'), whole(ARGV[7], 'number of entries')
if steers < 0 or entries < 0 or steers + entries > #ARGV - 7 then error('BADARG words are missing') end
if ARGV[5] ~= '' then records(5, 5) end
records(8 + steers, #ARGV)
if redis.call('HGET', runkey, 'status') ~= 'open' then return -2 end
if redis.call('HEXISTS', P .. 'causes:' .. run, ARGV[2]) == 1 then return 0 end
if most > 0 and tonumber(redis.call('HGET', runkey, 'budget')) + more > most then return -3 end
redis.call('HSET', P .. 'causes:' .. run, ARGV[2], '1')
local at = now()
if more ~= 0 then
  redis.call('HINCRBY', runkey, 'budget', ARGV[3])
  redis.call('HDEL', runkey, 'paused')
end
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
