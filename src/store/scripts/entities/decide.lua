#!lua flags=allow-oom
-- Registers an auto-indexed entity type, and the types of fields that have none, up to the limits. A date field with a value
-- that is not a date becomes text, and the marker counts this. Idempotent: other decided types do not change and are counted
-- only once. After `parts/deadline.lua`.
--
-- KEYS  1 fields of the type   2 number of types and fields of the source
-- ARGV  1 maximum number of fields of a type   2 maximum of KEYS 2   3 marker of the type   then name and type of each field
-- Returns  {time in ms, 0 if the source has no room for the type, 1 if all fields are decided, 2 if there was no room for some}
local taken = tonumber(redis.call('GET', KEYS[2]) or 0)
local count = redis.call('HLEN', KEYS[1])
local before = taken
if count == 0 then
  if taken >= tonumber(ARGV[2]) then return { nowMs, 0 } end
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
return { nowMs, outcome }
