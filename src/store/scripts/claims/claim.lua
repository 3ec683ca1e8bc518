#!lua flags=allow-oom
-- Puts, drops and renews claims on URLs and handles, and updates the lists of routes.
-- On behalf of a partition owner (`parts/owner.lua`), after `parts/claims.lua`.
--
-- KEYS  1 fence of the first group
-- ARGV  1 partition of the caller   2 its epoch   3 number of changes to keep
--       4 packed list of groups, each with the claims of one partition: {fence, clock and changes key, runs as in
--       `parts/claims.lua`}
--       A call with several groups is only for a single Redis, because their keys may be in different slots.
-- Returns  number of changes to what fields serve; error FENCED
local groups = cmsgpack.unpack(ARGV[4])
for _, group in ipairs(groups) do
  if tonumber(redis.call('HGET', group[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
    return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
  end
end
-- While a slot moves, access to a missing key ends the script. This must happen before the first write.
for _, group in ipairs(groups) do
  redis.call('EXISTS', group[2], group[3])
  for _, run in ipairs(group[4]) do redis.call('EXISTS', unpack(keysOfRun(run))) end
end
local count = 0
for _, group in ipairs(groups) do
  local digests = moveClaims(group[4])
  notifyServices()
  if #digests > 0 then
    local sequence = redis.call('HINCRBY', group[2], 'changes', 1)
    redis.call('XADD', group[3], 'MAXLEN', '~', ARGV[3], sequence .. '-0', 'd', table.concat(digests))
    count = count + #digests
  end
end
return count
