#!lua
-- Accepts source entities: compares, stores and announces each changed one, all or nothing.
-- Idempotent: a repeated call finds the token of its request in the records and skips those entities. Where a later request has
-- replaced its token, it finds its number, or that of a later call, and writes nothing.
-- After `parts/deadline.lua` and `parts/entity-heads.lua`, which describes the records.
--
-- KEYS  1 clock of the first group
-- ARGV  1 packed list of groups, each with the entities of one source in one partition: {clock, stream, entities and names key,
--       tenant, sourceId, a digit per entity: 1 overrides its type, originIds, records, the lists of names that the records
--       leave out: digest, list, digest …}
--       Records are in the form for a new entity, with three equal stamps.
--       A call with several groups is only for a single Redis, because their keys may be in different slots.
--       Requests of one call must not share an entity.
--       2 id of the sender   3 number of the call; a sender makes one call after the other, with increasing numbers
-- Returns  {time in ms, {last sequence of each group's stream, a string with a digit per entity: 0 unchanged, 1 changed, 2 type
--          conflict}}

-- Lua's stack limits the arguments of a call.
local chunk = 1000
local function each(list, act)
  for from = 1, #list, chunk do act(from, math.min(#list, from + chunk - 1)) end
end

-- A field for each sender in the clock of its first group: number and time of its last call, in 16 digits each.
local senderField = 'sender:' .. ARGV[2]
local keptMs = 24 * 3600 * 1000
local function forgetOldSenders()
  local fields = redis.call('HGETALL', KEYS[1])
  for at = 1, #fields, 2 do
    local isSender = string.sub(fields[at], 1, 7) == 'sender:'
    if isSender and nowMs - tonumber(string.sub(fields[at + 1], 17)) > keptMs then redis.call('HDEL', KEYS[1], fields[at]) end
  end
end
local lastCall = redis.call('HGET', KEYS[1], senderField)
local isRepeated = lastCall and tonumber(ARGV[3]) <= tonumber(string.sub(lastCall, 1, 16))

-- Read everything before the first write, because an error does not undo earlier writes. This includes keys that may be missing
-- while their slot moves, except for several groups, which are on a single Redis.
local groups, codes = {}, {}
local sentGroups = cmsgpack.unpack(ARGV[1])
for index, sent in ipairs(sentGroups) do
  local clock, stream, entities, namesKey, tenant, sourceId, forces, originIds, sentRecords, names = unpack(sent)
  local group = {
    clock = clock, stream = stream, entities = entities, tenant = tenant, sourceId = sourceId,
    records = {}, announced = {}, announcedBytes = 0, namesKey = namesKey, names = names,
  }
  groups[index] = group
  if #sentGroups == 1 then redis.call('EXISTS', clock, stream, namesKey) end
  local stored, written = {}, {}
  eachHead(entities, originIds, function(at, head) stored[originIds[at]] = head end)
  local records, announced = group.records, group.announced
  for at = 1, #originIds do
    local originId, record = originIds[at], sentRecords[at]
    local head = stored[originId]
    local code, isWritten = '1', not head and not isRepeated
    if head then
      local isOurs = string.sub(head, 17, 24) == string.sub(record, 17, 24)
      -- Check the type first: if a request has several states of an entity, a repeated call must refuse the same ones again.
      if typeOf(head) ~= typeOf(record) and string.sub(forces, at, at) ~= '1' then
        code = '2'
      elseif isOurs and not written[originId] then
        code = '1'
      elseif string.sub(head, 1, 16) == string.sub(record, 1, 16) then
        code = isOurs and '1' or '0'
      elseif not isRepeated then
        local stamp = stampsOf(record)
        local lastStamp, bornStamp, urlStamp = stampsOf(head)
        if stamp <= lastStamp then stamp = lastStamp + 1 end
        if urlOf(head) ~= urlOf(record) then urlStamp = stamp end
        record = string.sub(record, 1, stampsAt - 1) .. packedStamps(stamp, bornStamp, urlStamp)
          .. string.sub(record, typeStart(record))
        isWritten = true
      end
    end
    if isWritten then
      records[#records + 1], records[#records + 2] = originId, record
      stored[originId], written[originId] = record, true
      announced[#announced + 1] = originId
      group.announcedBytes = group.announcedBytes + #record - typeStart(record) + 1
    end
    codes[#codes + 1] = code
  end
end

local sequences = {}
for index, group in ipairs(groups) do
  if #group.announced > 0 then
    for at = 1, #group.names, 2 do redis.call('HSETNX', group.namesKey, group.names[at], group.names[at + 1]) end
    each(group.records, function(from, to) redis.call('HSET', group.entities, unpack(group.records, from, to)) end)
    local sequence = redis.call('HINCRBY', group.clock, 'stream', 1)
    local entry = { group.tenant, group.sourceId, group.announced, group.announcedBytes }
    redis.call('XADD', group.stream, sequence .. '-0', 'e', cmsgpack.pack(entry))
    sequences[index] = sequence
  else
    sequences[index] = tonumber(redis.call('HGET', group.clock, 'stream') or 0)
  end
end
if not isRepeated then
  if not lastCall then forgetOldSenders() end
  redis.call('HSET', KEYS[1], senderField, string.format('%016.0f', tonumber(ARGV[3])) .. string.format('%016.0f', nowMs))
end
return { nowMs, { sequences, table.concat(codes) } }
