#!lua
-- Makes a configuration the active one, unless it already is. Before the first one nothing was processed, so the lookup indexes
-- that it requires are complete.
--
-- New webhooks begin now. The state of webhooks that the configuration no longer has is deleted.
--
-- KEYS  1 configuration   2 layouts   3 purge   4 webhooks
-- ARGV  1 digest   2 packed list of its tenants: name, fingerprint of the documents, and other data
--       3 origin   4 generation that must still be active, or 0
--       5 digest of the folder that it was read from, or ''   6 packed list of the names of its webhooks
--       7 number of its sources   8 number of arguments for documents
--       then the sources as tenant|sourceId
--       then, alternating, fields of documents that are not stored yet and their packed documents
--       then, alternating, fields of the layouts and their values
-- Returns  active generation; 0 if the active generation is not the required one; the name of one of its sources whose
--          entities are being purged
local active = redis.call('HGET', KEYS[1], 'generation')
if redis.call('HGET', KEYS[1], 'digest') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'origin', ARGV[3])
  if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'folder', ARGV[5]) end
  return tonumber(active)
end
if ARGV[4] ~= (active or '0') then return 0 end
local sources, documents = tonumber(ARGV[7]), tonumber(ARGV[8])
for at = 9, 8 + sources do
  if redis.call('HEXISTS', KEYS[3], ARGV[at]) == 1 then return ARGV[at] end
end
if not active then
  for at = 9 + sources + documents, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1]) end
  redis.call('HINCRBY', KEYS[2], 'version', 1)
end
local time = redis.call('TIME')
local begun = '{"begunAt":' .. string.format('%016.0f', tonumber(time[1]) * 1000000 + tonumber(time[2])) .. '}'
local has = {}
for _, name in ipairs(cmsgpack.unpack(ARGV[6])) do
  has[name] = true
  redis.call('HSETNX', KEYS[4], name, begun)
end
for _, name in ipairs(redis.call('HKEYS', KEYS[4])) do
  if not has[name] then redis.call('HDEL', KEYS[4], name) end
end
for at = 9 + sources, 8 + sources + documents, 2 do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
local kept = {}
for _, tenant in ipairs(cmsgpack.unpack(ARGV[2])) do kept[tenant[1] .. '|' .. tenant[2]] = true end
local former = redis.call('HGET', KEYS[1], 'tenants')
for _, tenant in ipairs(former and cmsgpack.unpack(former) or {}) do
  local name = tenant[1] .. '|' .. tenant[2]
  if not kept[name] then redis.call('HDEL', KEYS[1], 'documents|' .. name) end
end
redis.call('HSET', KEYS[1], 'digest', ARGV[1], 'tenants', ARGV[2], 'origin', ARGV[3])
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'folder', ARGV[5]) end
return redis.call('HINCRBY', KEYS[1], 'generation', 1)
