#!lua
-- Which of the entities that were sent are stored as they are? Changes nothing.
--
-- KEYS  1 clock of the first group
-- ARGV  1 packed list of groups, each the entities of one source in one partition: {clock and meta key, originIds,
--       content hashes of 16 bytes}
--       A call of several groups is for one Redis, where their keys may lie in different slots.
-- Returns  {last sequence of each group's stream, one text of a digit per entity: 1 is stored as it is, 0 is not}

-- Arguments of one call are bounded by Lua's stack.
local chunk = 1000
local sequences, codes = {}, {}
for index, group in ipairs(cmsgpack.unpack(ARGV[1])) do
  local clock, metaKey, originIds, hashes = unpack(group)
  for from = 1, #originIds, chunk do
    local found = redis.call('HMGET', metaKey, unpack(originIds, from, math.min(#originIds, from + chunk - 1)))
    for at = 1, #found do
      local meta = found[at]
      codes[#codes + 1] = meta and string.sub(meta, 1, 16) == hashes[from + at - 1] and '1' or '0'
    end
  end
  sequences[index] = tonumber(redis.call('HGET', clock, 'stream') or 0)
end
return { sequences, table.concat(codes) }
