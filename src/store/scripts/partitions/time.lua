#!lua flags=no-writes
-- The time of the Redis that holds a key: of a cluster's many clocks always the same one.
--
-- KEYS  1 any
-- Returns  {seconds, microseconds}
local time = redis.call('TIME')
return { tonumber(time[1]), tonumber(time[2]) }
