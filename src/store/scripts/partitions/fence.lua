#!lua flags=allow-oom
-- Refuses, from now on, effects on this partition by owners of another partition older than an epoch.
--
-- KEYS  1 fence
-- ARGV  1 partition whose owner changed   2 its epoch
-- Returns  1, or 0 when a newer epoch is known already
local known = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)
if known > tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
