#!lua
-- Makes a configuration the active one, unless it is already. Before the first one nothing was ever processed, so the
-- lookup indexes that it asks for are whole.
--
-- KEYS  1 configuration   2 layouts   3 purge
-- ARGV  1 digest   2 packed documents   3 origin   4 generation that must be active still, or ''
--       5 number of sources that it has   then these as tenant|sourceId
--       then source field, packed layout of each source with lookup indexes
-- Returns  generation that is active now; 0 when another one is active than was asked for; the name of a source that it
--          has and whose entities are being purged
local active = redis.call('HGET', KEYS[1], 'generation')
if redis.call('HGET', KEYS[1], 'digest') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'origin', ARGV[3])
  return tonumber(active)
end
if ARGV[4] ~= '' and ARGV[4] ~= (active or '0') then return 0 end
local sources = tonumber(ARGV[5])
for at = 6, 5 + sources do
  if redis.call('HEXISTS', KEYS[3], ARGV[at]) == 1 then return ARGV[at] end
end
if not active then
  for at = 6 + sources, #ARGV, 2 do redis.call('HSET', KEYS[2], 'r|' .. ARGV[at], ARGV[at + 1]) end
  redis.call('HINCRBY', KEYS[2], 'version', 1)
end
redis.call('HSET', KEYS[1], 'digest', ARGV[1], 'documents', ARGV[2], 'origin', ARGV[3])
return redis.call('HINCRBY', KEYS[1], 'generation', 1)
