-- LATER: decide about a run again in a while, if its log is still as long. ARGV: run, ms, length or ''.
local run = ARGV[1]
if ARGV[3] ~= '' and redis.call('HGET', P .. 'run:' .. run, 'length') ~= ARGV[3] then return 0 end
redis.call('ZADD', P .. 'due', 'XX', now() + tonumber(ARGV[2]), 'control:' .. run)
return 1
