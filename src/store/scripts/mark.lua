#!lua
-- Appends rebuild marks to a partition's stream on behalf of another partition's owner.
--
-- KEYS  1 fence   2 clock   3 stream
-- ARGV  1 partition of the caller   2 its epoch   3 packed marks
--       4 history in which the caller took its lease, or '' for any
-- Returns  sequence of the entry; error FENCED
if ARGV[4] ~= '' and ARGV[4] ~= string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') then
  return redis.error_reply('FENCED Redis was restarted and may have forgotten what this rests on')
end
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
  return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
end
local sequence = redis.call('HINCRBY', KEYS[2], 'stream', 1)
redis.call('XADD', KEYS[3], sequence .. '-0', 'r', ARGV[3])
return sequence
