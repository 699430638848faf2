-- CANCEL: fence every open step; the closing step settles what was begun. ARGV: run, record.
-- Returns 1, or 0 when the run has ended or is being cancelled.
local run = ARGV[1]
if redis.call('HGET', P .. 'run:' .. run, 'status') ~= 'open' then return 0 end
local at = now()
fence_all(run)
redis.call('HSET', P .. 'run:' .. run, 'status', 'cancelling')
append(run, 'note', ARGV[2], at)
create_task(run, run .. '/close.1', 'close', '[]', '[]', 1, at)
poke(run .. '/status.1', at)
return 1
