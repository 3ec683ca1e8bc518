#!lua
-- Puts source entities of one partition back with the stamps that they had, and announces them, all or nothing.
-- Idempotent: an entity that is there with the same stamp or a later one stays as it is. So a repeated call does
-- nothing, of two states of one entity the later one wins, and what was ingested meanwhile is kept.
--
-- KEYS  1 restore   2 clock   3 stream   4 meta   5 entities   6 processed   7 names
-- ARGV  1 token of the restore   2 tenant   3 sourceId
--       then per entity: originId, contentHash (16 bytes), urlHash (8 bytes), stamps (24 bytes), type, body,
--       processed record or '', digest and list of the names that the body leaves out or ''
-- Returns  number of entities put; error FENCED when another restore, or none, holds the partition
--
-- Compare records and entity records as in entities/accept.lua; the token of a call that accepts is never all zeros. A
-- processed record says since when the entity has made its claims; one that a worker has written since is newer.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return redis.error_reply('FENCED the partition is not held by this restore')
end
local noToken = string.rep('\0', 8)
local announced, announcedBytes = {}, 0
for at = 4, #ARGV, 9 do
  local originId, contentHash, urlHash, stamps = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local type, body, processed = ARGV[at + 4], ARGV[at + 5], ARGV[at + 6]
  local meta = redis.call('HGET', KEYS[4], originId)
  local isLater = not meta or struct.unpack('>d', string.sub(meta, 33, 40)) < struct.unpack('>d', stamps)
  if isLater then
    if ARGV[at + 7] ~= '' then redis.call('HSETNX', KEYS[7], ARGV[at + 7], ARGV[at + 8]) end
    redis.call('HSET', KEYS[4], originId, contentHash .. noToken .. urlHash .. stamps .. type)
    redis.call('HSET', KEYS[5], originId, stamps .. body)
    if processed ~= '' then redis.call('HSETNX', KEYS[6], originId, processed) end
    announced[#announced + 1] = originId
    announcedBytes = announcedBytes + #body
  end
end
if #announced > 0 then
  local sequence = redis.call('HINCRBY', KEYS[2], 'stream', 1)
  redis.call('XADD', KEYS[3], sequence .. '-0', 'e', cmsgpack.pack({ ARGV[2], ARGV[3], announced, announcedBytes }))
end
return #announced
