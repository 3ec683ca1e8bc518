#!lua
-- Accepts source entities of one partition: compares, stores and announces each changed one, all or nothing.
-- Idempotent: a repeated call finds its own token in the compare records, and does nothing to those entities.
--
-- KEYS  1 clock   2 stream   3 meta   4 entities
-- ARGV  1 token (8 bytes)   2 '1' to override types   3 tenant   4 sourceId
--       then per entity: originId, contentHash (16 bytes), urlHash (8 bytes), stamp, type, body
-- Returns  {last sequence of the stream, code per entity}; codes: 0 unchanged, 1 changed, 2 type conflict
--
-- A compare record is contentHash, token, urlHash, the three stamps, type; an entity record the three stamps, body.
-- The stamps are stamp, bornStamp, urlStamp as big-endian doubles: read with the body they belong to the same state.
local token, force = ARGV[1], ARGV[2] == '1'
local codes, announced, announcedBytes, written = {}, {}, 0, {}
for at = 5, #ARGV, 6 do
  local originId, contentHash, urlHash = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local stamp, type, body = tonumber(ARGV[at + 3]), ARGV[at + 4], ARGV[at + 5]
  local meta = redis.call('HGET', KEYS[3], originId)
  local code = 1
  local bornStamp, urlStamp = stamp, stamp
  if meta then
    local isOurs = string.sub(meta, 17, 24) == token
    if isOurs and not written[originId] then
      code = 3
    elseif string.sub(meta, 1, 16) == contentHash then
      code = isOurs and 3 or 0
    elseif string.sub(meta, 57) ~= type and not force then
      code = 2
    else
      local lastStamp
      lastStamp, bornStamp, urlStamp = struct.unpack('>ddd', string.sub(meta, 33, 56))
      if stamp <= lastStamp then stamp = lastStamp + 1 end
      if string.sub(meta, 25, 32) ~= urlHash then urlStamp = stamp end
    end
  end
  if code == 1 then
    local stamps = struct.pack('>ddd', stamp, bornStamp, urlStamp)
    redis.call('HSET', KEYS[3], originId, contentHash .. token .. urlHash .. stamps .. type)
    redis.call('HSET', KEYS[4], originId, stamps .. body)
    written[originId] = true
    announced[#announced + 1] = originId
    announcedBytes = announcedBytes + #body
  end
  codes[#codes + 1] = code == 3 and 1 or code
end
local sequence
if #announced > 0 then
  sequence = redis.call('HINCRBY', KEYS[1], 'stream', 1)
  redis.call('XADD', KEYS[2], sequence .. '-0', 'e', cmsgpack.pack({ ARGV[3], ARGV[4], announced, announcedBytes }))
else
  sequence = tonumber(redis.call('HGET', KEYS[1], 'stream') or 0)
end
return { sequence, codes }
