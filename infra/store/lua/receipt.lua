-- RECEIPT: note what came of an effect; the first one wins, whoever holds the token. ARGV: run, key, receipt JSON, record.
-- Returns the receipt that stands.
records(4, 4)
local book = P .. 'eff:' .. ARGV[1]
local known = redis.call('HGET', book, 'r:' .. ARGV[2])
if known then return known end
redis.call('HSET', book, 'r:' .. ARGV[2], ARGV[3])
append(ARGV[1], 'receipt', ARGV[4], now())
return ARGV[3]
