#!lua
-- Restores source entities of a partition with their original stamps, and announces them, all or nothing.
-- Idempotent: an entity that has the same stamp or a later one is not changed. So a repeated call does nothing, the later of
-- two states of an entity wins, and anything ingested meanwhile is kept.
--
-- KEYS  1 restore   2 clock   3 stream   4 entities   5 processed   6 names
-- ARGV  1 token of the restore   2 tenant   3 sourceId
--       then per entity: originId, record, processed record or '', digest and list of the names that the record leaves out
--       or ''
-- Returns  number of entities restored; error FENCED if this restore does not hold the partition
--
-- After `parts/entity-heads.lua`. A processed record contains when the entity began to make its claims. If a worker has
-- written one meanwhile, that one is newer and is kept.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return redis.error_reply('FENCED the partition is not held by this restore')
end
local announced, announcedBytes = {}, 0
for at = 4, #ARGV, 5 do
  local originId, record, processed = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local lastStamp
  eachHead(KEYS[4], { originId }, function(_, head) lastStamp = stampsOf(head) end)
  if not lastStamp or lastStamp < stampsOf(record) then
    if ARGV[at + 3] ~= '' then redis.call('HSETNX', KEYS[6], ARGV[at + 3], ARGV[at + 4]) end
    redis.call('HSET', KEYS[4], originId, record)
    if processed ~= '' then redis.call('HSETNX', KEYS[5], originId, processed) end
    announced[#announced + 1] = originId
    announcedBytes = announcedBytes + #record - typeStart(record) + 1
  end
end
if #announced > 0 then
  local sequence = redis.call('HINCRBY', KEYS[2], 'stream', 1)
  redis.call('XADD', KEYS[3], sequence .. '-0', 'e', cmsgpack.pack({ ARGV[2], ARGV[3], announced, announcedBytes }))
end
return #announced
