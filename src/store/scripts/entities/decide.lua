#!lua flags=allow-oom
-- Decides that an auto-indexed entity type exists, and the types of fields that have none, as far as there is room. A date
-- field that is shown as text becomes text, and the marker counts it. Idempotent: nothing else that is decided changes, and it
-- takes room once.
--
-- KEYS  1 fields of the type   2 room taken in the source: one per type and one per field
-- ARGV  1 most fields of a type   2 most room of a source   3 marker of the type   then field, type of each
-- Returns  0 when the type has no room in the source, 1 when all fields are decided, 2 when some have no room
local taken = tonumber(redis.call('GET', KEYS[2]) or 0)
local count = redis.call('HLEN', KEYS[1])
local before = taken
if count == 0 then
  if taken >= tonumber(ARGV[2]) then return 0 end
  redis.call('HSET', KEYS[1], ARGV[3], 'object')
  taken = taken + 1
else
  count = count - 1
end
local outcome = 1
local retyped = { date = 'keywordText', ['date[]'] = 'keywordText[]' }
for at = 4, #ARGV, 2 do
  local decided = redis.call('HGET', KEYS[1], ARGV[at])
  if decided and retyped[decided] == ARGV[at + 1] then
    local retypings = tonumber(redis.call('HGET', KEYS[1], ARGV[3])) or 0
    redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1], ARGV[3], retypings + 1)
  elseif not decided then
    if count < tonumber(ARGV[1]) and taken < tonumber(ARGV[2]) then
      redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1])
      count = count + 1
      taken = taken + 1
    else
      outcome = 2
    end
  end
end
if taken > before then redis.call('SET', KEYS[2], taken) end
return outcome
