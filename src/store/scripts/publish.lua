#!lua
-- Makes a configuration the active one, unless it is already.
--
-- KEYS  1 configuration
-- ARGV  1 digest   2 packed documents
-- Returns  generation that is active now
if redis.call('HGET', KEYS[1], 'digest') == ARGV[1] then
  return tonumber(redis.call('HGET', KEYS[1], 'generation'))
end
redis.call('HSET', KEYS[1], 'digest', ARGV[1], 'documents', ARGV[2])
return redis.call('HINCRBY', KEYS[1], 'generation', 1)
