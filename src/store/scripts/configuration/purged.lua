#!lua
-- Records that a purge has finished a partition.
--
-- KEYS  1 purge
-- ARGV  1 token of the purge   2 partition   3 number of partitions
-- Returns  1 if it has finished all partitions, 0 if some are left or the purge has ended
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'done:' .. ARGV[2], '1')
for partition = 0, tonumber(ARGV[3]) - 1 do
  if redis.call('HEXISTS', KEYS[1], 'done:' .. partition) == 0 then return 0 end
end
return 1
