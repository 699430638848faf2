-- ATTEMPT: note that an effect is about to be tried. ARGV: task, token, key, mode ('first' or 'again'), record.
-- Returns {-1} for a stale token, {0} go on, {1, ms since it was tried}, {2, receipt JSON}.
local task = ARGV[1]
if ARGV[4] ~= 'first' and ARGV[4] ~= 'again' then error('BADARG no such mode') end
records(5, 5)
if not holds(task, ARGV[2]) then return {-1} end
local run = redis.call('HGET', P .. 'task:' .. task, 'run')
local book, key = P .. 'eff:' .. run, ARGV[3]
local receipt = redis.call('HGET', book, 'r:' .. key)
if receipt then return {2, receipt} end
local at = now()
local tried = redis.call('HGET', book, 'a:' .. key)
if tried and ARGV[4] == 'first' then return {1, string.format('%.0f', at - tonumber(tried))} end
redis.call('HSET', book, 'a:' .. key, string.format('%.0f', at))
if not tried then append(run, 'attempt', ARGV[5], at) end
return {0}
