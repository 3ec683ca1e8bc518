#!lua flags=allow-oom
-- Records what the owner of a partition is about to write outside its partition.
-- On behalf of a partition owner (`parts/owner.lua`).
--
-- KEYS  1 owner   2 intents
-- ARGV  1 epoch   then field and value of each intent
-- Returns  1; error FENCED if the partition has a newer owner
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return redis.error_reply('FENCED the partition has a newer owner')
end
for at = 2, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1]) end
return 1
