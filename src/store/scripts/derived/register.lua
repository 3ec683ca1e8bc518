#!lua flags=allow-oom
-- Registers and unregisters dependents of lookup keys of this partition.
-- In an owner's name (`parts/owner.lua`).
--
-- KEYS  1 fence
-- ARGV  1 partition of the caller   2 its epoch   3 packed list of 'add' | 'drop', dependents key, member of each
-- Returns  1; error FENCED
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
  return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
end
local registrations = cmsgpack.unpack(ARGV[3])
for at = 1, #registrations, 3 do
  redis.call(registrations[at] == 'add' and 'SADD' or 'SREM', registrations[at + 1], registrations[at + 2])
end
return 1
