#!lua flags=no-writes
-- Ids of the last entries that were ever added to streams, trimmed or not.
--
-- KEYS  any number of streams
-- Returns  their ids in this order; `0-0` for a stream that is not there
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
