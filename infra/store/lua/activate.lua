-- ACTIVATE: make steps due, or say something, if the log is still as long as the decision saw it.
-- ARGV: run, length, number of events, events ..., then per step: task, key, node, inputs, writes, visit, record
-- Returns 1 done, -1 the log grew (decide again), -2 the run is not open.
local run, key = ARGV[1], P .. 'run:' .. ARGV[1]
local events = whole(ARGV[3], 'number of events')
if events < 0 or events > #ARGV - 3 or (#ARGV - 3 - events) % 7 ~= 0 then error('BADARG steps are not whole') end
records(4, 3 + events)
for i = 4 + events, #ARGV, 7 do
  whole(ARGV[i + 5], 'visit')
  records(i + 6, i + 6)
end
if redis.call('HGET', key, 'status') ~= 'open' then
  redis.call('ZREM', P .. 'due', 'control:' .. run)
  return -2
end
if redis.call('HGET', key, 'length') ~= ARGV[2] then return -1 end
local at = now()
redis.call('ZREM', P .. 'due', 'control:' .. run)
for i = 4, 3 + events do
  append(run, 'event', ARGV[i], at)
  publish(unsealed(ARGV[i]))
end
local i = 4 + events
while i <= #ARGV do
  if redis.call('HSETNX', P .. 'keys:' .. run, ARGV[i + 1], ARGV[i]) == 1 then
    create_task(run, ARGV[i], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5], at)
    append(run, 'activated', ARGV[i + 6], at)
    poke(run .. '/status.1', at)
  end
  i = i + 7
end
if events > 0 then decide(run, at) end
return 1
