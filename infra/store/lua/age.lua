-- AGE: let go of a finished run's transcripts, and of what only an open run needs. ARGV: run, keep ms, tasks of the run ...
-- Returns 1, or 0 when it is not over for so long, or was done before.
local run, key = ARGV[1], P .. 'run:' .. ARGV[1]
local f = redis.call('HMGET', key, 'status', 'ended_at', 'aged_at')
if not f[1] or f[1] == 'open' or f[1] == 'cancelling' or not f[2] or f[3] then return 0 end
local at = now()
if at - tonumber(f[2]) < tonumber(ARGV[2]) then return 0 end
for i = 3, #ARGV do redis.call('DEL', P .. 'turns:' .. ARGV[i]) end
redis.call('DEL', P .. 'steers:' .. run, P .. 'keys:' .. run, P .. 'causes:' .. run, P .. 'checkpoint:' .. run)
redis.call('HSET', key, 'aged_at', string.format('%.0f', at))
return 1
