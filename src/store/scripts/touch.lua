#!lua
-- Publishes what entities are under lookup keys of this partition, then tells who depends on those keys.
-- Publishing before asking, while views register before reading, means that of a change and a computation that
-- race one always sees the other.
--
-- KEYS  1 fence
-- ARGV  1 partition of the caller   2 its epoch   3 most members to list per key
--       4 count of index writes, then lookup key, originId, packed projection ('' drops the entry) of each
--       then dependents keys to ask
-- Returns  per asked key {count of members, members}; members are left out when there are more than asked; error FENCED
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
  return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
end
local at = 5
for _ = 1, tonumber(ARGV[4]) do
  if ARGV[at + 2] == '' then
    redis.call('HDEL', ARGV[at], ARGV[at + 1])
  else
    redis.call('HSET', ARGV[at], ARGV[at + 1], ARGV[at + 2])
  end
  at = at + 3
end
local asked = {}
for key = at, #ARGV do
  local count = redis.call('SCARD', ARGV[key])
  local members = {}
  if count > 0 and count <= tonumber(ARGV[3]) then members = redis.call('SMEMBERS', ARGV[key]) end
  asked[#asked + 1] = { count, members }
end
return asked
