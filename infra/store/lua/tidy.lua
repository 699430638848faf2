-- Forget consumers of the bus that are long silent and hold nothing. Looked at and done in one script, so that nothing
-- can be given to one in between: what a consumer holds goes with it (XGROUP DELCONSUMER). ARGV: group, idle ms.
-- Returns how many.
local stream, gone = P .. 'bus', 0
if redis.call('EXISTS', stream) == 0 then return 0 end
for _, flat in ipairs(redis.call('XINFO', 'CONSUMERS', stream, ARGV[1])) do
  local f = {}
  for i = 1, #flat, 2 do f[flat[i]] = flat[i + 1] end
  if f['pending'] == 0 and f['idle'] >= tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', stream, ARGV[1], f['name'])
    gone = gone + 1
  end
end
return gone
