#!lua flags=allow-oom
-- Deletes the decided fields of an auto-indexed entity type. After `parts/deadline.lua`.
--
-- KEYS  1 fields of the type   2 number of types and fields of the source
-- Returns  {time in ms, number of fields and their type}
local count = redis.call('HLEN', KEYS[1])
local left = tonumber(redis.call('GET', KEYS[2]) or 0) - count
redis.call('UNLINK', KEYS[1])
if left > 0 then redis.call('SET', KEYS[2], left) else redis.call('DEL', KEYS[2]) end
return { nowMs, count }
