-- TURN: store a reply or its tools' results, once, and settle the last reservation.
-- ARGV: task, token, number, turn JSON, log record, cost, settles ('1' for a reply), steers already seen
-- An empty turn JSON stores nothing and only asks for the steers.
-- Returns -1 for a stale token, -2 when an earlier turn is missing, else the steers that came since.
local task, key = ARGV[1], P .. 'task:' .. ARGV[1]
local turns, number = P .. 'turns:' .. task, whole(ARGV[3], 'number')
local cost, seen = whole(ARGV[6], 'cost'), whole(ARGV[8], 'steers')
if ARGV[4] ~= '' then records(5, 5) end
if not holds(task, ARGV[2]) then return -1 end
local stored = redis.call('LLEN', turns)
if stored < number then return -2 end
local run = redis.call('HGET', key, 'run')
if stored == number and ARGV[4] ~= '' then
  local at = now()
  redis.call('RPUSH', turns, ARGV[4])
  append(run, 'turn', ARGV[5], at)
  if ARGV[7] == '1' then
    redis.call('HINCRBY', P .. 'run:' .. run, 'spent', cost)
    redis.call('HINCRBY', P .. 'run:' .. run, 'reserved', -tonumber(redis.call('HGET', key, 'reserved')))
    redis.call('HSET', key, 'reserved', 0)
    local installation = redis.call('HGET', P .. 'run:' .. run, 'installation')
    local counters = {day_key(run, at)}
    if installation then counters[2] = month_key(installation, at) end
    for _, counter in ipairs(counters) do
      redis.call('INCRBY', counter, cost)
      redis.call('EXPIRE', counter, 40 * 86400)
    end
  end
  redis.call('HSET', key, 'attempts', 1)
  poke(run .. '/status.1', at + 500)
end
-- What was said before the step began stands on the board already.
local from = tonumber(redis.call('HGET', key, 'heard')) + seen
return redis.call('LRANGE', P .. 'steers:' .. run, from, -1)
