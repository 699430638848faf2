-- A repository has another name or installation: its open runs learn of it. ARGV: repo id, repository JSON.
-- Returns in how many it was news.
local changed = 0
for _, run in ipairs(redis.call('ZRANGE', P .. 'open-runs', 0, -1)) do
  local key = P .. 'run:' .. run
  local f = redis.call('HMGET', key, 'repo_id', 'repo')
  if f[1] == ARGV[1] and f[2] ~= ARGV[2] then
    redis.call('HSET', key, 'repo', ARGV[2])
    changed = changed + 1
  end
end
return changed
