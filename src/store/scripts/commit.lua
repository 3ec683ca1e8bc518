#!lua
-- Stores what a partition's owner made of a batch, moves its checkpoint and announces the change, all or nothing.
--
-- KEYS  1 owner   2 clock   3 changes   4 caused   5 stream
-- ARGV  1 epoch   2 checkpoint   3 announcement (packed)   4 waiting rebuilds (packed)   5 changes kept
--       6 number of the commit before, or ''   7 count of caused pairs, then field, sequence of each
--       then hash writes: 'S', key, count of pairs, field, value … or 'D', key, count of fields, field …
-- Returns  number of this commit; error FENCED when the epoch is no longer the owner's, or another commit was before
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return redis.error_reply('FENCED the partition has a newer owner')
end
local before = tonumber(redis.call('HGET', KEYS[1], 'commits') or 0)
local expected = tonumber(ARGV[6])
if expected then
  if before == expected + 1 then return before end
  if before ~= expected then return redis.error_reply('FENCED the store is in an earlier state') end
end
-- Of a slot that moves some keys may be gone, which ends the script: before the first write, not amid.
local check = 8 + 2 * tonumber(ARGV[7])
while check <= #ARGV do
  redis.call('EXISTS', ARGV[check + 1])
  check = check + 3 + tonumber(ARGV[check + 2]) * (ARGV[check] == 'S' and 2 or 1)
end
local at = 8
for _ = 1, tonumber(ARGV[7]) do
  redis.call('HSET', KEYS[4], ARGV[at], ARGV[at + 1])
  at = at + 2
end
-- Arguments of one call are bounded by Lua's stack.
local chunk = 1000
while at <= #ARGV do
  local command, key, width = ARGV[at] == 'S' and 'HSET' or 'HDEL', ARGV[at + 1], ARGV[at] == 'S' and 2 or 1
  local last = at + 2 + tonumber(ARGV[at + 2]) * width
  at = at + 3
  while at <= last do
    local stop = math.min(last, at + chunk - 1)
    redis.call(command, key, unpack(ARGV, at, stop))
    at = stop + 1
  end
end
redis.call('HSET', KEYS[1], 'checkpoint', ARGV[2], 'dirty', ARGV[4])
local commits = redis.call('HINCRBY', KEYS[1], 'commits', 1)
local sequence = redis.call('HINCRBY', KEYS[2], 'changes', 1)
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[5], sequence .. '-0', 'c', ARGV[3], 'n', commits)
redis.call('XTRIM', KEYS[5], 'MINID', '~', tonumber(ARGV[2]) + 1)
return commits
