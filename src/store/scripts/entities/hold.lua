#!lua
-- Assigns a partition to a restore, if nothing was ever accepted in it, or releases it.
-- Idempotent: a restore that already holds the partition, and may have written to it, keeps it.
--
-- KEYS  1 restore   2 clock
-- ARGV  1 'take' | 'release'   2 token of the restore
-- Returns  1 if done; take: 0 if the partition is not empty, 2 if another restore holds it
local holder = redis.call('GET', KEYS[1])
if ARGV[1] == 'release' then
  if holder == ARGV[2] then redis.call('DEL', KEYS[1]) end
  return 1
end
if holder == ARGV[2] then return 1 end
if holder then return 2 end
if redis.call('HEXISTS', KEYS[2], 'stream') == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
