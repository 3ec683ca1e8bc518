#!lua
-- Records that a partition has added every entity of a source to the lookup layout that the configuration requires. Once all
-- partitions have, lookups read that layout. The previous one is maintained until all workers know.
--
-- KEYS  1 configuration   2 layouts
-- ARGV  1 generation of the configuration   2 partition   3 number of partitions   4 field of the source
--       5 packed layout, or '' for none
-- Returns  1 if lookups read the layout from now on, else 0
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
local reads, before, filled = 'r|' .. ARGV[4], 'b|' .. ARGV[4], 'f|' .. ARGV[4] .. '|'
local now = redis.call('HGET', KEYS[2], reads)
if (now or '') == ARGV[5] then return 0 end
redis.call('HSET', KEYS[2], filled .. ARGV[2], ARGV[1])
if redis.call('HEXISTS', KEYS[2], before) == 1 then return 0 end
for partition = 0, tonumber(ARGV[3]) - 1 do
  if redis.call('HGET', KEYS[2], filled .. partition) ~= ARGV[1] then return 0 end
end
for partition = 0, tonumber(ARGV[3]) - 1 do redis.call('HDEL', KEYS[2], filled .. partition) end
if now then redis.call('HSET', KEYS[2], before, now) end
if ARGV[5] == '' then
  redis.call('HDEL', KEYS[2], reads)
else
  redis.call('HSET', KEYS[2], reads, ARGV[5])
end
redis.call('HINCRBY', KEYS[2], 'version', 1)
return 1
