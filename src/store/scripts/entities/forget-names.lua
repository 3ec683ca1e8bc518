#!lua flags=allow-oom
-- Deletes the lists of names that records leave out, if the partition has no entities of their source and no processed records.
--
-- KEYS  1 entities   2 processed   3 names
-- Returns  1 if deleted, else 0
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('UNLINK', KEYS[3])
return 1
