-- CANCEL: fence every open step; the closing step settles what was begun. ARGV: run, record.
-- Returns 1, or 0 when the run has ended or is being cancelled.
records(2, 2)
if redis.call('HGET', P .. 'run:' .. ARGV[1], 'status') ~= 'open' then return 0 end
halt(ARGV[1], ARGV[2], now())
return 1
