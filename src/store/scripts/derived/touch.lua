#!lua flags=allow-oom
-- Publishes the entries of entities under lookup keys of this partition, then returns the dependents of those keys. A change
-- publishes before it reads dependents, and a computation registers before it reads entries. So if the two race, at least one
-- sees the other.
-- On behalf of a partition owner (`parts/owner.lua`).
--
-- KEYS  1 fence
-- ARGV  1 partition of the caller   2 its epoch   3 maximum number of members to return per key
--       4 packed list of lookup hashes, each {key, originIds to drop, {originId, projection …} to set}
--       5 packed list of requested keys of dependents
-- Returns  per requested key {number of members, members}; no members if there are more than the maximum; error FENCED
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
  return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
end
for _, hash in ipairs(cmsgpack.unpack(ARGV[4])) do
  local key, drops, sets = unpack(hash)
  -- Drops first, because an entry that is dropped as a precaution may be set again in the same call.
  if #drops > 0 then redis.call('HDEL', key, unpack(drops)) end
  if #sets > 0 then redis.call('HSET', key, unpack(sets)) end
end
local asked = {}
for index, key in ipairs(cmsgpack.unpack(ARGV[5])) do
  local count = redis.call('HLEN', key)
  local members = {}
  if count > 0 and count <= tonumber(ARGV[3]) then members = redis.call('HKEYS', key) end
  asked[index] = { count, members }
end
return asked
