#!lua flags=allow-oom
-- Stores what a partition's owner made of a batch, moves its checkpoint and announces the change, all or nothing.
-- In an owner's name (`parts/owner.lua`), behind `parts/claims.lua`. What changed gets its entries in the change log.
--
-- KEYS  1 owner   2 clock   3 changes   4 downstream   5 stream
-- ARGV  1 epoch   2 checkpoint   3 announcement (packed)   4 pending rebuilds (packed)   5 changes kept
--       6 number of the commit before, or ''   7 packed list of downstream invalidations: field, sequence, field …
--       8 packed list of runs of claims, as in `parts/claims.lua`; empty in a cluster, where their keys lie in other slots
--       9 packed list of what it tells of its views, as in `parts/change-log.lua`
--       then packed lists of writes, each {key, fields and values to set, fields to delete} for a hash, {key, members to add,
--       members to remove, 'set'} for a set, and {key, scores and members to add, members to remove, 'sorted'} for a sorted one
-- Returns  number of this commit; error FENCED when the epoch is no longer the owner's, or another commit was before
local owner = redis.call('HMGET', KEYS[1], 'epoch', 'commits', 'checkpoint')
if owner[1] ~= ARGV[1] then return redis.error_reply('FENCED the partition has a newer owner') end
local before = tonumber(owner[2] or 0)
local expected = tonumber(ARGV[6])
if expected then
  if before == expected + 1 then return before end
  if before ~= expected then return redis.error_reply('FENCED the store is in an earlier state') end
end
local downstream, claims, told = cmsgpack.unpack(ARGV[7]), cmsgpack.unpack(ARGV[8]), cmsgpack.unpack(ARGV[9])
local writes, written = {}, {}
for _, group in ipairs(told) do
  for _, key in ipairs(logKeys(group[1], group[2], group[3])) do written[#written + 1] = key end
  written[#written + 1] = group[1] .. ':logs'
end
for at = 10, #ARGV do
  for _, write in ipairs(cmsgpack.unpack(ARGV[at])) do
    writes[#writes + 1] = write
    -- Sets of other partitions are written on one Redis alone.
    if write[4] ~= 'set' then written[#written + 1] = write[1] end
  end
end
-- While a slot moves, some of its keys may be gone, and such a key ends the script: here, before the first write.
for from = 1, #written, chunk do
  redis.call('EXISTS', unpack(written, from, math.min(#written, from + chunk - 1)))
end
-- On one Redis none of their keys can be gone. The announcement below tells of them. On one Redis every reader hears the
-- announcements of all partitions, whatever partition it has read.
moveClaims(claims)
tellServices(KEYS[2])
tellViews(KEYS[2], told)
callEach('HSET', KEYS[4], downstream)
local commands = { hash = { 'HSET', 'HDEL' }, set = { 'SADD', 'SREM' }, sorted = { 'ZADD', 'ZREM' } }
for _, write in ipairs(writes) do
  local command = commands[write[4] or 'hash']
  callEach(command[1], write[1], write[2])
  callEach(command[2], write[1], write[3])
end
local commits = before + 1
redis.call('HSET', KEYS[1], 'checkpoint', ARGV[2], 'dirty', ARGV[4], 'commits', commits)
local sequence = redis.call('HINCRBY', KEYS[2], 'changes', 1)
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[5], sequence .. '-0', 'c', ARGV[3], 'n', commits)
-- Redis drops whole nodes of a stream, of about a hundred entries each: most commits would try it in vain.
local checkpoint, node = tonumber(ARGV[2]), 64
if math.floor(checkpoint / node) ~= math.floor(tonumber(owner[3] or 0) / node) then
  redis.call('XTRIM', KEYS[5], 'MINID', '~', checkpoint + 1)
end
return commits
