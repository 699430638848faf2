-- START: one open run per issue. ARGV: run, repo id, issue, attempt, cause, record of the run, budget, event, entries ...
-- Returns 1 started, 0 there is an open one or the cause has started one before, -1 the attempt number is taken.
local run, repo, issue, attempt, cause = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
whole(repo, 'repository')
whole(issue, 'issue')
whole(attempt, 'attempt')
whole(ARGV[7], 'budget')
records(6, 6)
records(8, math.max(8, #ARGV))
local open, started = P .. 'open:' .. repo .. ':' .. issue, P .. 'started:' .. cause
if redis.call('EXISTS', open) == 1 or redis.call('EXISTS', started) == 1 then return 0 end
local attempts = P .. 'attempts:' .. repo
if tonumber(redis.call('HGET', attempts, issue) or '0') + 1 ~= tonumber(attempt) then return -1 end
local at = now()
local before = redis.call('GET', P .. 'issue:' .. repo .. ':' .. issue)
local after = before and redis.call('HGET', P .. 'run:' .. before, 'ended_at')
if after then redis.call('HSET', P .. 'run:' .. run, 'after', after) end
redis.call('HSET', attempts, issue, attempt)
redis.call('SET', open, run)
redis.call('SET', started, run, 'PX', 7 * 24 * 3600 * 1000)
redis.call('SET', P .. 'issue:' .. repo .. ':' .. issue, run)
redis.call('ZADD', P .. 'runs', at, run)
redis.call('ZADD', P .. 'open-runs', at, run)
redis.call('HSET', P .. 'run:' .. run, 'meta', unsealed(ARGV[6]), 'repo_id', repo, 'issue', issue, 'attempt', attempt,
  'status', 'open', 'budget', ARGV[7], 'spent', 0, 'reserved', 0, 'unconfirmed', 0, 'length', 0,
  'started_at', string.format('%.0f', at))
append(run, 'run', ARGV[6], at)
for i = 9, #ARGV do append(run, 'entry', ARGV[i], at) end
append(run, 'event', ARGV[8], at)
publish(unsealed(ARGV[8]))
create_task(run, run .. '/status.1', 'status', '[]', '[]', 1, at)
decide(run, at)
return 1
