#!lua flags=allow-oom
-- Raises the format of a store that this version can bring to its own. One of another version stays as it is.
--
-- KEYS  1 layout
-- ARGV  1 earliest format that is raised   2 format of this version
-- Returns  the format afterwards
local format = tonumber(redis.call('HGET', KEYS[1], 'format') or 1)
local earliest, own = tonumber(ARGV[1]), tonumber(ARGV[2])
if format < earliest or format >= own then return format end
redis.call('HSET', KEYS[1], 'format', own)
return own
