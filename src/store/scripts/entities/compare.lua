#!lua
-- Which of the entities that were sent are stored as they are? Changes nothing. After `parts/entity-heads.lua`.
--
-- KEYS  1 clock of the first group
-- ARGV  1 packed list of groups, each the entities of one source in one partition: {clock and entities key, originIds,
--       content hashes of 16 bytes}
--       A call of several groups is for one Redis, where their keys may lie in different slots.
-- Returns  {last sequence of each group's stream, one text of a digit per entity: 1 is stored as it is, 0 is not}
local sequences, codes = {}, {}
for index, group in ipairs(cmsgpack.unpack(ARGV[1])) do
  local clock, entities, originIds, hashes = unpack(group)
  local before = #codes
  for at = 1, #originIds do codes[before + at] = '0' end
  eachHead(entities, originIds, function(at, head)
    if string.sub(head, 1, 16) == hashes[at] then codes[before + at] = '1' end
  end)
  sequences[index] = tonumber(redis.call('HGET', clock, 'stream') or 0)
end
return { sequences, table.concat(codes) }
