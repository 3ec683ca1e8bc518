-- Refuses partition owners whose lease is from another history. After `parts/history.lua`.
--
-- ARGV  last, removed here: history in which the owner took its lease, or '' for any
-- Returns  error FENCED
local onlyIn = table.remove(ARGV)
if onlyIn ~= '' and onlyIn ~= history() then
  return redis.error_reply('FENCED Redis was restarted and may have forgotten what this rests on')
end
