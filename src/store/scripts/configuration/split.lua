#!lua flags=allow-oom
-- Puts the documents of each tenant into a field of their own, in a store that has all of them in one.
--
-- KEYS  1 configuration
-- ARGV  1 generation that they are of   2 digest   3 packed list of tenants   then fields of documents and their values, in turns
-- Returns  1 when they are split now; 0 when another generation is active or they were split before
local fields = redis.call('HMGET', KEYS[1], 'generation', 'documents')
if fields[1] ~= ARGV[1] or not fields[2] then return 0 end
for at = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
redis.call('HSET', KEYS[1], 'digest', ARGV[2], 'tenants', ARGV[3])
redis.call('HDEL', KEYS[1], 'documents', 'applied')
return 1
