#!lua flags=allow-oom
-- Registers and unregisters dependents of lookup keys of this partition and referrers of its views, as fields without values.
-- On behalf of a partition owner (`parts/owner.lua`).
--
-- KEYS  1 fence
-- ARGV  1 partition of the caller   2 its epoch   3 packed list: 'add' | 'drop', key and member of each
-- Returns  1; error FENCED
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
  return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
end
local registrations = cmsgpack.unpack(ARGV[3])
for at = 1, #registrations, 3 do
  local key, member = registrations[at + 1], registrations[at + 2]
  if registrations[at] == 'add' then redis.call('HSET', key, member, '') else redis.call('HDEL', key, member) end
end
return 1
