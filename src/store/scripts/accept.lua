#!lua
-- Accepts source entities: compares, stores and announces each changed one, all or nothing.
-- Idempotent: a repeated call finds the token of its request in the compare records, and does nothing to those entities.
--
-- KEYS  1 clock of the first group
-- ARGV  1 packed list of groups, each the entities of one source in one partition: {clock, stream, meta and entities
--       key, tenant, sourceId, heads, originIds, types, bodies}; of the last four one of each entity
--       A head is '1' to override types or '0', contentHash (16 bytes), token (8), urlHash (8), stamp (big-endian double): 41 bytes
--       A call of several groups is for one Redis, where their keys may lie in different slots.
--       Two requests of one call have no entity in common.
-- Returns  {last sequence of each group's stream, one text of a digit per entity: 0 unchanged, 1 changed, 2 type conflict}
--
-- A compare record is contentHash, token, urlHash, the three stamps, type; an entity record the three stamps, body.
-- The stamps are stamp, bornStamp, urlStamp as big-endian doubles: read with the body they belong to the same state.

-- Arguments of one call are bounded by Lua's stack.
local chunk = 1000
local function each(list, act)
  for from = 1, #list, chunk do act(from, math.min(#list, from + chunk - 1)) end
end

-- Everything is read, and every key looked at, before the first write: an error amid the writes would not undo them.
local groups, codes = {}, {}
for index, sent in ipairs(cmsgpack.unpack(ARGV[1])) do
  local clock, stream, metaKey, entities, tenant, sourceId, heads, originIds, types, sentBodies = unpack(sent)
  local group = {
    clock = clock, stream = stream, meta = metaKey, entities = entities, tenant = tenant, sourceId = sourceId,
    metas = {}, bodies = {}, announced = {}, announcedBytes = 0,
  }
  groups[index] = group
  redis.call('EXISTS', clock, stream, entities)
  local stored, written = {}, {}
  each(originIds, function(from, to)
    local found = redis.call('HMGET', metaKey, unpack(originIds, from, to))
    for at = 1, #found do stored[originIds[from + at - 1]] = found[at] end
  end)
  for at = 1, #originIds do
    local head, originId, type, body = heads[at], originIds[at], types[at], sentBodies[at]
    local meta = stored[originId]
    local code, stamps = '1', nil
    if not meta then
      local stamp = string.sub(head, 34)
      stamps = stamp .. stamp .. stamp
    else
      local isOurs = string.sub(meta, 17, 24) == string.sub(head, 18, 25)
      if isOurs and not written[originId] then
        code = '1'
      elseif string.sub(meta, 1, 16) == string.sub(head, 2, 17) then
        code = isOurs and '1' or '0'
      elseif string.sub(meta, 57) ~= type and string.sub(head, 1, 1) ~= '1' then
        code = '2'
      else
        local stamp = struct.unpack('>d', string.sub(head, 34))
        local lastStamp, bornStamp, urlStamp = struct.unpack('>ddd', string.sub(meta, 33, 56))
        if stamp <= lastStamp then stamp = lastStamp + 1 end
        if string.sub(meta, 25, 32) ~= string.sub(head, 26, 33) then urlStamp = stamp end
        stamps = struct.pack('>ddd', stamp, bornStamp, urlStamp)
      end
    end
    if stamps then
      local record = string.sub(head, 2, 33) .. stamps .. type
      local metas, bodies = group.metas, group.bodies
      metas[#metas + 1], metas[#metas + 2] = originId, record
      bodies[#bodies + 1], bodies[#bodies + 2] = originId, stamps .. body
      stored[originId], written[originId] = record, true
      group.announced[#group.announced + 1] = originId
      group.announcedBytes = group.announcedBytes + #body
    end
    codes[#codes + 1] = code
  end
end

local sequences = {}
for index, group in ipairs(groups) do
  if #group.announced > 0 then
    each(group.metas, function(from, to) redis.call('HSET', group.meta, unpack(group.metas, from, to)) end)
    each(group.bodies, function(from, to) redis.call('HSET', group.entities, unpack(group.bodies, from, to)) end)
    local sequence = redis.call('HINCRBY', group.clock, 'stream', 1)
    local entry = { group.tenant, group.sourceId, group.announced, group.announcedBytes }
    redis.call('XADD', group.stream, sequence .. '-0', 'e', cmsgpack.pack(entry))
    sequences[index] = sequence
  else
    sequences[index] = tonumber(redis.call('HGET', group.clock, 'stream') or 0)
  end
end
return { sequences, table.concat(codes) }
