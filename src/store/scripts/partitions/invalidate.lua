#!lua flags=allow-oom
-- Appends an invalidation to a partition's stream: outputs of its entities to be rebuilt.
-- On behalf of a partition owner (`parts/owner.lua`).
--
-- KEYS  1 fence   2 clock   3 stream
-- ARGV  1 partition of the caller   2 its epoch   3 the invalidation (packed)
-- Returns  sequence of the entry; error FENCED
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
  return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
end
local sequence = redis.call('HINCRBY', KEYS[2], 'stream', 1)
redis.call('XADD', KEYS[3], sequence .. '-0', 'r', ARGV[3])
return sequence
