#!lua
-- Ends a purge, unless it has already ended, because then another one may be running.
--
-- KEYS  1 purge
-- ARGV  1 token of the purge
-- Returns  1 if this call ended it, else 0
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
