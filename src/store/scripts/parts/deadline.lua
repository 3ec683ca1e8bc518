-- Ends a call that arrives at its deadline or later (`store/redis/script.ts`). The script returns {nowMs, reply}.
--
-- ARGV  last, removed here: deadline in milliseconds of Redis' clock, or '' for none
-- Returns  {nowMs} for a late call
local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local deadline = table.remove(ARGV)
if deadline ~= '' and nowMs >= tonumber(deadline) then return { nowMs } end
