#!lua flags=allow-oom
-- Removes old traces and old records of formerly served claims of an environment.
-- On behalf of a partition owner (`parts/owner.lua`), after `parts/calls.lua`.
--
-- KEYS  1 owner   2 logs   3 traces   4 removed   5 left
-- ARGV  1 epoch   2 minimum age in microseconds of what is removed   3 maximum number of each to remove
--       4 tenant and environment
-- Returns  1 if there may be more to remove, else 0; error FENCED
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return redis.error_reply('FENCED the partition has a newer owner')
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local to = string.format('%016.0f', math.max(0, now - tonumber(ARGV[2])))
local left = redis.call('ZRANGEBYSCORE', KEYS[5], '-inf', to, 'LIMIT', 0, ARGV[3])
callEach('ZREM', KEYS[5], left)
local old = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', to, 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local members = {}
for at = 1, #old, 2 do members[#members + 1] = old[at] end
if #members > 0 then
  redis.call('HSET', KEYS[2], ARGV[4], old[#old])
  callEach('ZREM', KEYS[3], members)
  callEach('HDEL', KEYS[4], members)
end
local most = tonumber(ARGV[3])
return (#left == most or #members == most) and 1 or 0
