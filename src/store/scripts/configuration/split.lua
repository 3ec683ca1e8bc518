#!lua flags=allow-oom
-- Moves the documents of each tenant to a separate field, in a store that has all documents in one field.
--
-- KEYS  1 configuration
-- ARGV  1 their generation   2 digest   3 packed list of tenants   then, alternating, fields of documents and their values
-- Returns  1 if this call split them; 0 if another generation is active or they were already split
local fields = redis.call('HMGET', KEYS[1], 'generation', 'documents')
if fields[1] ~= ARGV[1] or not fields[2] then return 0 end
for at = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
redis.call('HSET', KEYS[1], 'digest', ARGV[2], 'tenants', ARGV[3])
redis.call('HDEL', KEYS[1], 'documents', 'applied')
return 1
