-- What is due now. ARGV: limit. Returns member, token pairs; the token makes a wake-up's id, '-' for decisions.
local found = redis.call('ZRANGE', P .. 'due', '-inf', now(), 'BYSCORE', 'LIMIT', 0, ARGV[1])
local out = {}
for _, member in ipairs(found) do
  out[#out + 1] = member
  out[#out + 1] = redis.call('HGET', P .. 'task:' .. member, 'token') or redis.call('HGET', P .. 'run:' .. string.sub(member, 9), 'length') or '-'
end
return out
