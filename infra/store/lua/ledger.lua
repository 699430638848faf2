-- What was spent besides this run. ARGV: run, installation.
-- Returns the repository's day, the installation's month, and what the repository's newest completed runs cost.
local at = now()
local answer = {
  redis.call('GET', day_key(ARGV[1], at)) or '0',
  redis.call('GET', month_key(ARGV[2], at)) or '0',
}
local past = P .. 'costs:' .. redis.call('HGET', P .. 'run:' .. ARGV[1], 'repo_id')
for _, cost in ipairs(redis.call('LRANGE', past, 0, 19)) do answer[#answer + 1] = cost end
return answer
