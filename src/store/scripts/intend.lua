#!lua
-- Notes what a partition's owner is about to put outside its partition.
--
-- KEYS  1 owner   2 intents
-- ARGV  1 epoch   2 history in which the lease was taken, or '' for any   then field, value of each note
-- Returns  1; error FENCED when the epoch is no longer the owner's
if ARGV[2] ~= '' and ARGV[2] ~= string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') then
  return redis.error_reply('FENCED Redis was restarted and may have forgotten what this rests on')
end
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return redis.error_reply('FENCED the partition has a newer owner')
end
for at = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1]) end
return 1
