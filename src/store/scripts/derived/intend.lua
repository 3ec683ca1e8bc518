#!lua flags=allow-oom
-- Notes what a partition's owner is about to put outside its partition.
-- In an owner's name (`parts/owner.lua`).
--
-- KEYS  1 owner   2 intents
-- ARGV  1 epoch   then field, value of each note
-- Returns  1; error FENCED when the epoch is no longer the owner's
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return redis.error_reply('FENCED the partition has a newer owner')
end
for at = 2, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1]) end
return 1
