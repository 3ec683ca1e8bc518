#!lua flags=allow-oom
-- Stores the results of batches of partition owners, moves their checkpoints and announces the changes, all or nothing. Changed
-- views get entries in the change log.
-- On behalf of partition owners (`parts/owner.lua`), after `parts/claims.lua`.
--
-- KEYS  1 owner of the first partition
-- ARGV  1 number of changes to keep
--       2 packed list of commits, each of another partition: {owner key, epoch, previous commit's number or '', checkpoint,
--         announcement (packed), pending rebuilds (packed), list of downstream invalidations: field, sequence, field …, list of
--         reported views as in `parts/change-log.lua`, clock, changes, downstream and stream key, deferred outputs (packed),
--         names of the changed items (packed; only if workers have copies of shards)}
--         A call with several commits is only for a single Redis, because their keys may be in different slots.
--       3 packed list of runs of claims of all commits, as in `parts/claims.lua`; empty in a cluster, where their keys are in
--         other slots
--       then packed lists of writes, each {key, fields and values to set, fields to delete} for a hash; the same, then
--       'foreign', for a hash that may be in another partition; and {key, new texts, texts to keep, 'list', texts to remove}
--       for an ordered list, with the new texts in byte order
-- Returns  numbers of the commits. Error FENCED if a partition has a newer owner, if the number of a previous commit differs,
--          or if only some of the commits are already done
local commits, claims = cmsgpack.unpack(ARGV[2]), cmsgpack.unpack(ARGV[3])
local numbers, checkpoints, done = {}, {}, 0
for index, commit in ipairs(commits) do
  local ownerKey, epoch, expected = commit[1], commit[2], tonumber(commit[3])
  local owner = redis.call('HMGET', ownerKey, 'epoch', 'commits', 'checkpoint')
  if owner[1] ~= epoch then return redis.error_reply('FENCED the partition has a newer owner') end
  local before = tonumber(owner[2] or 0)
  if expected and before == expected + 1 then
    done = done + 1
    before = expected
  elseif expected and before ~= expected then
    return redis.error_reply('FENCED the store is in an earlier state')
  end
  numbers[index], checkpoints[index] = before + 1, tonumber(owner[3] or 0)
end
if done == #commits then return numbers end
if done > 0 then return redis.error_reply('FENCED some of the commits are done already') end
local writes = {}
for at = 4, #ARGV do
  for _, write in ipairs(cmsgpack.unpack(ARGV[at])) do writes[#writes + 1] = write end
end
-- While a slot moves, access to a missing key ends the script. This must happen before the first write. Several commits are
-- only for a single Redis, where no slot moves.
if #commits == 1 then
  local written = {}
  for _, group in ipairs(commits[1][8]) do
    for _, key in ipairs(logKeys(group[1], group[2], group[3])) do written[#written + 1] = key end
    written[#written + 1] = group[1] .. ':logs'
  end
  for _, write in ipairs(writes) do
    if write[4] == 'list' then
      for _, key in ipairs(keysOfList(write[1])) do written[#written + 1] = key end
    elseif write[4] ~= 'foreign' then
      -- Hashes of other partitions are only written on a single Redis.
      written[#written + 1] = write[1]
    end
  end
  for from = 1, #written, chunk do
    redis.call('EXISTS', unpack(written, from, math.min(#written, from + chunk - 1)))
  end
end
-- Only a single Redis gets claims here, where none of their keys can be missing. The announcements below report them, because
-- there every reader receives the announcements of all partitions.
moveClaims(claims)
notifyServices()
for _, write in ipairs(writes) do
  local key = write[1]
  if write[4] == 'list' then
    changeList(key, write[2], write[3], write[5])
  else
    callEach('HSET', key, write[2])
    callEach('HDEL', key, write[3])
  end
end
for index, commit in ipairs(commits) do
  local ownerKey, epoch, after, checkpoint, announcement, pending, downstream, reports, clock, changes, sent, stream, deferred, items = unpack(commit)
  reportViews(clock, reports)
  callEach('HSET', sent, downstream)
  redis.call('HSET', ownerKey, 'checkpoint', checkpoint, 'dirty', pending, 'deferred', deferred, 'commits', numbers[index])
  local sequence = redis.call('HINCRBY', clock, 'changes', 1)
  local fields = { 'c', announcement, 'n', numbers[index] }
  if items then fields[5], fields[6] = 'i', items end
  redis.call('XADD', changes, 'MAXLEN', '~', ARGV[1], sequence .. '-0', unpack(fields))
  -- Redis only removes whole nodes of a stream, with about a hundred entries each, so most commits would trim in vain.
  local node = 64
  if math.floor(checkpoint / node) ~= math.floor(checkpoints[index] / node) then
    redis.call('XTRIM', stream, 'MINID', '~', checkpoint + 1)
  end
end
return numbers
