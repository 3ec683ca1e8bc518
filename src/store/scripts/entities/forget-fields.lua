#!lua flags=allow-oom
-- Deletes the decided fields of all auto-indexed entity types of a source. After `parts/deadline.lua`.
--
-- KEYS  1 number of types and fields of the source   then the fields of each type
-- Returns  {time in ms, number of types and fields}
local count = 0
for at = 2, #KEYS do
  count = count + redis.call('HLEN', KEYS[at])
  redis.call('UNLINK', KEYS[at])
end
redis.call('DEL', KEYS[1])
return { nowMs, count }
