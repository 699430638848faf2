-- Shared by every script. All keys stand under one hash tag (KEYS[1], for instance "{s}:"), so that they live in one slot.
-- The clock is the server's. JSON stays opaque: it is made and read outside, and only stored and compared here.
-- A record comes sealed: 64 characters of digest, 16 of salt, then its JSON (infra/store/records.py).
local P = KEYS[1]
local RECORD_VERSION = 1
local function now()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
-- The counters of what a repository spends in a day and an installation in a month, both by UTC. Month: civil_from_days
-- of http://howardhinnant.github.io/date_algorithms.html.
local function day_key(run, at)
  return P .. 'spent-day:' .. redis.call('HGET', P .. 'run:' .. run, 'repo_id') .. ':' .. math.floor(at / 86400000)
end
local function month_key(installation, at)
  local z = math.floor(at / 86400000) + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local mp = math.floor((5 * (doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))) + 2) / 153)
  local month, year = mp < 10 and mp + 3 or mp - 9, yoe + era * 400
  if month <= 2 then year = year + 1 end
  return P .. 'spent-month:' .. installation .. ':' .. string.format('%.0f', year * 100 + month)
end
-- A script that fails half-way keeps what it has written: whatever can be wrong with its arguments is looked at first.
local function whole(value, what)
  if not value or #value > 16 or not string.match(value, '^%-?%d+$') then error('BADARG ' .. what .. ' is no whole number') end
  return tonumber(value)
end
local function records(from, to)
  for i = from, to do
    if not ARGV[i] or #ARGV[i] < 82 then error('BADARG argument ' .. i .. ' is no sealed record') end
  end
end
local function unsealed(record)
  return string.sub(record, 81)
end
-- Each record is chained to the one before it; the last link stands in the run's hash, so that a cut tail shows too.
local function append(run, kind, record, at)
  local key, digest, stamp = P .. 'run:' .. run, string.sub(record, 1, 64), string.format('%.0f', at)
  local position = redis.call('HINCRBY', key, 'length', 1)
  local before = redis.call('HGET', key, 'head') or ''
  local head = redis.sha1hex(table.concat({before, position, kind, stamp, digest}, '\n'))
  redis.call('HSET', key, 'head', head)
  redis.call('XADD', P .. 'log:' .. run, position .. '-0', 't', kind, 'd', unsealed(record), 'at', stamp,
    'v', RECORD_VERSION, 'g', digest, 's', string.sub(record, 65, 80), 'h', head)
  return position
end
local function publish(event)
  redis.call('XADD', P .. 'bus', '*', 'e', event)
end
-- Wake one waiting step; a running one learns of it when it parks.
local function poke(task, at)
  local key = P .. 'task:' .. task
  local state = redis.call('HGET', key, 'state')
  if not state then return end
  if state == 'parked' then
    redis.call('HSET', key, 'state', 'due')
    at = math.max(at, tonumber(redis.call('HGET', key, 'not_before') or '0'))
    redis.call('ZADD', P .. 'due', at, task)
  end
  if state == 'parked' or state == 'leased' then redis.call('HINCRBY', key, 'pokes', 1) end
end
-- Something was written to the run's log: let it be decided what follows, and let the status comment follow.
local function decide(run, at)
  if redis.call('HGET', P .. 'run:' .. run, 'status') == 'open' then
    redis.call('ZADD', P .. 'due', at, 'control:' .. run)
  end
  poke(run .. '/status.1', at)
end
local function fence_all(run)
  local tasks = redis.call('SMEMBERS', P .. 'tasks:' .. run)
  for _, task in ipairs(tasks) do
    local key = P .. 'task:' .. task
    if redis.call('HGET', key, 'node') ~= 'status' then
      redis.call('HINCRBY', key, 'token', 1)
      redis.call('HSET', key, 'state', 'fenced')
      redis.call('ZREM', P .. 'due', task)
      redis.call('SREM', P .. 'tasks:' .. run, task)
      local kept = tonumber(redis.call('HGET', key, 'reserved') or '0')
      if kept > 0 then
        redis.call('HINCRBY', P .. 'run:' .. run, 'reserved', -kept)
        redis.call('HINCRBY', P .. 'run:' .. run, 'unconfirmed', kept)
        redis.call('HSET', key, 'reserved', 0)
      end
    end
  end
  redis.call('ZREM', P .. 'due', 'control:' .. run)
end
local function finish(run, status, at)
  local key = P .. 'run:' .. run
  redis.call('HSET', key, 'status', status, 'ended_at', string.format('%.0f', at))
  local open = P .. 'open:' .. redis.call('HGET', key, 'repo_id') .. ':' .. redis.call('HGET', key, 'issue')
  if redis.call('GET', open) == run then redis.call('DEL', open) end
  redis.call('ZREM', P .. 'open-runs', run)
end
local function create_task(run, task, node, inputs, writes, visit, at)
  redis.call('HSET', P .. 'task:' .. task, 'run', run, 'node', node, 'inputs', inputs, 'writes', writes,
    'visit', visit, 'state', 'due', 'token', 0, 'attempts', 0, 'pokes', 0, 'reserved', 0,
    'heard', redis.call('LLEN', P .. 'steers:' .. run))
  redis.call('SADD', P .. 'tasks:' .. run, task)
  redis.call('ZADD', P .. 'due', at, task)
end
-- Every open step is fenced; the closing step settles what was begun, and ends the run.
local function halt(run, record, at)
  fence_all(run)
  redis.call('HSET', P .. 'run:' .. run, 'status', 'cancelling')
  append(run, 'note', record, at)
  create_task(run, run .. '/close.1', 'close', '[]', '[]', 1, at)
  poke(run .. '/status.1', at)
end
-- 1 when the token is the current one of a leased step.
local function holds(task, token)
  local t = redis.call('HMGET', P .. 'task:' .. task, 'token', 'state')
  return t[1] == token and t[2] == 'leased'
end
