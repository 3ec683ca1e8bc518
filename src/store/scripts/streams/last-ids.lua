#!lua flags=no-writes
-- Returns the ids of the last entries ever added to streams, even if they were trimmed.
--
-- KEYS  any number of streams
-- Returns  an id per stream, in the order of the keys; `0-0` for a missing stream
local ids = {}
for at, key in ipairs(KEYS) do
  ids[at] = '0-0'
  if redis.call('EXISTS', key) == 1 then
    local facts = redis.call('XINFO', 'STREAM', key)
    for fact = 1, #facts, 2 do
      if facts[fact] == 'last-generated-id' then ids[at] = facts[fact + 1] end
    end
  end
end
return ids
