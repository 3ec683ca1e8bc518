#!lua flags=allow-oom
-- Removes a field from a hash that lists what a partition has, if the partition has none of it.
--
-- KEYS  1 hash   2 ordered list of the entities that the field counts
-- ARGV  1 field
-- Returns  1 if removed, else 0
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
