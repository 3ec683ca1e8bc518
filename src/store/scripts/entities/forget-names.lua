#!lua flags=allow-oom
-- Forgets the lists of names that entity records leave out, when the partition has no entities of their source.
--
-- KEYS  1 entities   2 names
-- Returns  1 when they are forgotten, else 0
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('UNLINK', KEYS[2])
return 1
