#!lua
-- Records that a partition has no claims of a tenant left in the old form of URLs. Once all partitions have none, readers no
-- longer look for them.
--
-- KEYS  1 configuration   2 layouts
-- ARGV  1 generation of the configuration   2 partition   3 number of partitions   4 field of the tenant
--       5 required state   6 new state
-- Returns  1 if the state has changed, else 0
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
if redis.call('HGET', KEYS[2], ARGV[4]) ~= ARGV[5] then return 0 end
local moved = 'm' .. ARGV[4] .. '|'
redis.call('HSET', KEYS[2], moved .. ARGV[2], ARGV[1])
for partition = 0, tonumber(ARGV[3]) - 1 do
  if redis.call('HGET', KEYS[2], moved .. partition) ~= ARGV[1] then return 0 end
end
for partition = 0, tonumber(ARGV[3]) - 1 do redis.call('HDEL', KEYS[2], moved .. partition) end
redis.call('HSET', KEYS[2], ARGV[4], ARGV[6])
redis.call('HINCRBY', KEYS[2], 'version', 1)
return 1
