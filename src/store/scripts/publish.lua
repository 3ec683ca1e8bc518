#!lua
-- Makes a configuration the active one, unless it is already. Before the first one nothing was ever processed, so the
-- lookup indexes that it asks for are whole.
--
-- KEYS  1 configuration   2 layouts
-- ARGV  1 digest   2 packed documents   then source field, packed layout of each source with lookup indexes
-- Returns  generation that is active now
if redis.call('HGET', KEYS[1], 'digest') == ARGV[1] then
  return tonumber(redis.call('HGET', KEYS[1], 'generation'))
end
if redis.call('HEXISTS', KEYS[1], 'generation') == 0 then
  for at = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], 'r|' .. ARGV[at], ARGV[at + 1]) end
  redis.call('HINCRBY', KEYS[2], 'version', 1)
end
redis.call('HSET', KEYS[1], 'digest', ARGV[1], 'documents', ARGV[2])
return redis.call('HINCRBY', KEYS[1], 'generation', 1)
