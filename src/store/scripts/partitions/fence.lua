#!lua flags=allow-oom
-- From now on, refuses effects on this partition from owners of another partition with a lower epoch.
--
-- KEYS  1 fence
-- ARGV  1 partition whose owner changed   2 its epoch
-- Returns  1, or 0 if a newer epoch is already known
local known = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)
if known > tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
