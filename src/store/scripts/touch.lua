#!lua
-- Publishes what entities are under lookup keys of this partition, then tells who depends on those keys.
-- Publishing before asking, while views register before reading, means that of a change and a computation that
-- race one always sees the other.
--
-- KEYS  1 fence
-- ARGV  1 partition of the caller   2 its epoch   3 most members to list per key
--       4 count of lookup hashes, then of each: key, count of originIds to drop, count of arguments to set, originIds
--       to drop, then originId, projection … to set; then dependents keys to ask
-- Returns  per asked key {count of members, members}; members are left out when there are more than asked; error FENCED
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
  return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
end
local at = 5
for _ = 1, tonumber(ARGV[4]) do
  local key, drops, sets = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  at = at + 3
  -- Drops first: an entry that is dropped for safety may be set again in the same call.
  if drops > 0 then redis.call('HDEL', key, unpack(ARGV, at, at + drops - 1)) end
  at = at + drops
  if sets > 0 then redis.call('HSET', key, unpack(ARGV, at, at + sets - 1)) end
  at = at + sets
end
local asked = {}
for key = at, #ARGV do
  local count = redis.call('SCARD', ARGV[key])
  local members = {}
  if count > 0 and count <= tonumber(ARGV[3]) then members = redis.call('SMEMBERS', ARGV[key]) end
  asked[#asked + 1] = { count, members }
end
return asked
