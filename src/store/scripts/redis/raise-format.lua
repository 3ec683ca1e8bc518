#!lua flags=allow-oom
-- Raises the format of a store to that of this version, if this version can upgrade it. Other formats are left unchanged.
--
-- KEYS  1 layout
-- ARGV  1 earliest format that can be upgraded   2 format of this version
-- Returns  the format afterwards
local format = tonumber(redis.call('HGET', KEYS[1], 'format') or 1)
local earliest, own = tonumber(ARGV[1]), tonumber(ARGV[2])
if format < earliest or format >= own then return format end
redis.call('HSET', KEYS[1], 'format', own)
return own
