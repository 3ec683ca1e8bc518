#!lua flags=allow-oom
-- Removes an entity type of a source if the partition has no entities of it.
--
-- KEYS  1 types of the source   2 directory of the type
-- ARGV  1 type
-- Returns  1 if removed, else 0
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
