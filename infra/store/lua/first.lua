-- Whose turn it is in a lane. ARGV: group, lane, keep ms, stream ids of events that this worker was given in it ...
-- Returns the oldest stream id of the lane that is given out and not acknowledged.
local stream, lane = P .. 'bus', P .. 'lane:' .. ARGV[1] .. ':' .. ARGV[2]
local keep = whole(ARGV[3], 'time to keep')
local scores = {}
for i = 4, #ARGV do
  local ms, sequence = string.match(ARGV[i], '^(%d+)%-(%d+)$')
  if not ms then error('BADARG argument ' .. i .. ' is no stream id') end
  -- A number of 53 bits holds the time, and the first 4095 events of one millisecond in their order.
  scores[i] = string.format('%.0f', tonumber(ms) * 4096 + math.min(tonumber(sequence), 4095))
end
for i = 4, #ARGV do redis.call('ZADD', lane, scores[i], ARGV[i]) end
redis.call('PEXPIRE', lane, keep)
while true do
  local oldest = redis.call('ZRANGE', lane, 0, 0)[1]
  if not oldest then return '' end
  local pending = redis.pcall('XPENDING', stream, ARGV[1], oldest, oldest, 1)
  if pending['err'] then return oldest end
  if #pending > 0 then return oldest end
  redis.call('ZREM', lane, oldest)
end
