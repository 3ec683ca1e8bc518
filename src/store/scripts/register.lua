#!lua
-- Registers and unregisters dependents of lookup keys of this partition.
--
-- KEYS  1 fence
-- ARGV  1 partition of the caller   2 its epoch   then 'add' | 'drop', dependents key, member of each
-- Returns  1; error FENCED
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
  return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
end
for at = 3, #ARGV, 3 do
  redis.call(ARGV[at] == 'add' and 'SADD' or 'SREM', ARGV[at + 1], ARGV[at + 2])
end
return 1
