-- PURGE: put the log without content in the place of the log, and drop what else holds the run's content.
-- ARGV: run, records that were read, tasks of the run ...
-- Returns 1, -1 when the log grew meanwhile, -2 when the run has not ended.
local run = ARGV[1]
local key, log, fresh = P .. 'run:' .. run, P .. 'log:' .. run, P .. 'purging:' .. run
local status = redis.call('HGET', key, 'status')
if status == 'open' or status == 'cancelling' then return -2 end
if redis.call('HGET', key, 'length') ~= ARGV[2] or redis.call('XLEN', fresh) ~= redis.call('XLEN', log) then return -1 end
redis.call('RENAME', fresh, log)
for i = 3, #ARGV do redis.call('DEL', P .. 'turns:' .. ARGV[i]) end
redis.call('DEL', P .. 'steers:' .. run, P .. 'checkpoint:' .. run)
redis.call('HSET', key, 'purged_at', string.format('%.0f', now()))
return 1
