-- Refuses an owner of a partition whose lease is of another history. After `parts/history.lua`.
--
-- ARGV  last, taken away here: history in which the owner took its lease, or '' where any will do
-- Returns  error FENCED
local onlyIn = table.remove(ARGV)
if onlyIn ~= '' and onlyIn ~= history() then
  return redis.error_reply('FENCED Redis was restarted and may have forgotten what this rests on')
end
