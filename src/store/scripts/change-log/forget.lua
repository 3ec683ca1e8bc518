#!lua flags=allow-oom
-- Deletes the change log of an environment in one partition, unless it has views. The horizon is kept, at the last trace, so
-- that earlier offsets are refused if the environment ever returns.
--
-- KEYS  1 log   2 traces   3 logs   4 removed   5 left   6 log-names   7 view-counts
-- ARGV  1 tenant and environment
-- Returns  1 if deleted, 0 if it has views
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
if last[2] then redis.call('HSET', KEYS[3], ARGV[1], last[2]) end
redis.call('UNLINK', KEYS[2], KEYS[4], KEYS[5], KEYS[6], KEYS[7])
return 1
