#!lua
-- Checks which of the sent entities are stored unchanged. Writes nothing. After `parts/entity-heads.lua`.
--
-- KEYS  1 clock of the first group
-- ARGV  1 packed list of groups, each with the entities of one source in one partition: {clock and entities key, originIds,
--       content hashes of 16 bytes}
--       A call with several groups is only for a single Redis, because their keys may be in different slots.
-- Returns  {last sequence of each group's stream, a string with a digit per entity: 1 if stored unchanged, else 0}
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
