#!lua flags=allow-oom
-- Keeps a stream of a living process from expiring; makes it if it is not there. It is called often, and writes seldom.
--
-- KEYS  1 stream
-- ARGV  1 time to live in ms
-- Returns  {1 if it was made, else 0, seconds and microseconds by the clock that entry ids are made with}
local isNew = redis.call('EXISTS', KEYS[1]) == 0
if isNew then redis.call('XADD', KEYS[1], '*', 'new', '') end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) * 2 / 3 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
local time = redis.call('TIME')
return { isNew and 1 or 0, tonumber(time[1]), tonumber(time[2]) }
