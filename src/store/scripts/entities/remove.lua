#!lua flags=allow-oom
-- Removes source entities of a partition and announces them.
-- Idempotent: the result is kept under the call's token until a minute after its deadline.
-- After `parts/deadline.lua`.
--
-- KEYS  1 clock   2 stream   3 entities   4 removal
-- ARGV  1 tenant   2 sourceId   then originIds
-- Returns  {time in ms, {last sequence of the stream, 1 or 0 per originId: whether it existed}}
local known = redis.call('GET', KEYS[4])
if known then return { nowMs, cmsgpack.unpack(known) } end
local found, announced = {}, {}
for at = 3, #ARGV do
  local was = redis.call('HDEL', KEYS[3], ARGV[at])
  found[#found + 1] = was
  if was == 1 then announced[#announced + 1] = ARGV[at] end
end
local sequence
if #announced > 0 then
  sequence = redis.call('HINCRBY', KEYS[1], 'stream', 1)
  redis.call('XADD', KEYS[2], sequence .. '-0', 'e', cmsgpack.pack({ ARGV[1], ARGV[2], announced, 0 }))
else
  sequence = tonumber(redis.call('HGET', KEYS[1], 'stream') or 0)
end
local outcome = { sequence, found }
local keptMs = 60000 + (deadline == '' and 0 or tonumber(deadline) - nowMs)
redis.call('SET', KEYS[4], cmsgpack.pack(outcome), 'PX', keptMs)
return { nowMs, outcome }
