#!lua flags=allow-oom
-- Publishes the entries of entities under lookup keys of this partition, then tells the dependents of those keys.
-- A change publishes before it asks, and a computation registers before it reads. So when the two race, one always sees
-- the other.
-- In an owner's name (`parts/owner.lua`).
--
-- KEYS  1 fence
-- ARGV  1 partition of the caller   2 its epoch   3 most members to list per key
--       4 packed list of lookup hashes, each {key, originIds to drop, {originId, projection …} to set}
--       5 packed list of dependents keys to ask
-- Returns  per asked key {count of members, members}; members are left out when there are more than asked; error FENCED
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
  return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
end
for _, hash in ipairs(cmsgpack.unpack(ARGV[4])) do
  local key, drops, sets = unpack(hash)
  -- Drops first: an entry that is dropped for safety may be set again in the same call.
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
