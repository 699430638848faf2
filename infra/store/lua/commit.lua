-- COMMIT: end a step: entries, events and wake-ups together.
-- ARGV: task, token, outcome, retry ms, seen pokes, pull, branch, ending, record, number of entries, entries ..., events ...
-- `paused` is parked for want of money: until somebody gives more, no step of the run spends any.
-- Returns 1, 0 when this step was committed before, -1 for a stale token.
local task, key = ARGV[1], P .. 'task:' .. ARGV[1]
local wait, entries = whole(ARGV[4], 'wait'), whole(ARGV[10], 'number of entries')
if not ({done = 1, failed = 1, retry = 1, parked = 1, paused = 1})[ARGV[3]] then error('BADARG no such outcome') end
if entries < 0 or entries > #ARGV - 10 then error('BADARG entries are missing') end
if ARGV[6] ~= '' then whole(ARGV[6], 'pull request') end
records(9, 9)
records(11, #ARGV)
local f = redis.call('HMGET', key, 'token', 'state', 'run')
if not f[1] or f[1] ~= ARGV[2] then return -1 end
if f[2] == 'done' or f[2] == 'failed' then return 0 end
if f[2] ~= 'leased' then return -1 end
local outcome, run = ARGV[3], f[3]
local runkey = P .. 'run:' .. run
local at = now()
for i = 11, 10 + entries do append(run, 'entry', ARGV[i], at) end
for i = 11 + entries, #ARGV do
  append(run, 'event', ARGV[i], at)
  publish(unsealed(ARGV[i]))
end
if ARGV[6] ~= '' then
  redis.call('HSET', runkey, 'pull', ARGV[6])
  redis.call('SET', P .. 'pull:' .. redis.call('HGET', runkey, 'repo_id') .. ':' .. ARGV[6], run)
end
if ARGV[7] ~= '' then redis.call('HSET', runkey, 'branch', ARGV[7]) end
local held = tonumber(redis.call('HGET', key, 'reserved'))
if held > 0 then
  redis.call('HINCRBY', runkey, 'reserved', -held)
  redis.call('HINCRBY', runkey, 'unconfirmed', held)
  redis.call('HSET', key, 'reserved', 0)
end
if outcome == 'done' or outcome == 'failed' then
  redis.call('HSET', key, 'state', outcome)
  redis.call('SREM', P .. 'tasks:' .. run, task)
  redis.call('ZREM', P .. 'due', task)
  append(run, 'ended', ARGV[9], at)
elseif outcome == 'retry' then
  redis.call('HSET', key, 'state', 'due')
  redis.call('ZADD', P .. 'due', at + wait, task)
  append(run, 'note', ARGV[9], at)
else
  -- Parked: due when poked, at once if that happened meanwhile, else after the retry time if one is given. The status step is never due sooner than it asks for.
  redis.call('HSET', key, 'attempts', 0)
  local not_before = at
  if redis.call('HGET', key, 'node') == 'status' then
    not_before = at + wait
    redis.call('HSET', key, 'not_before', string.format('%.0f', not_before))
  end
  if redis.call('HGET', key, 'pokes') ~= ARGV[5] then
    redis.call('HSET', key, 'state', 'due')
    redis.call('ZADD', P .. 'due', not_before, task)
  else
    redis.call('HSET', key, 'state', 'parked')
    redis.call('ZREM', P .. 'due', task)
    if outcome == 'paused' then redis.call('HSET', runkey, 'paused', 1) end
    if wait > 0 and redis.call('HGET', key, 'node') ~= 'status' then
      redis.call('ZADD', P .. 'due', at + wait, task)
    end
  end
end
if ARGV[8] ~= '' then
  fence_all(run)
  finish(run, ARGV[8], at)
  if ARGV[8] == 'run_completed' then
    local past = P .. 'costs:' .. redis.call('HGET', runkey, 'repo_id')
    redis.call('LPUSH', past, redis.call('HGET', runkey, 'spent'))
    redis.call('LTRIM', past, 0, 19)
  end
end
local quiet = redis.call('HGET', key, 'node') == 'status'
if not quiet then decide(run, at) end
return 1
