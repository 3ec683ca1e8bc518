#!lua flags=allow-oom
-- Writes, so that a WAIT after it covers everything that was ever written to this master. Returns the history of the master;
-- a replica that becomes a master begins another one.
--
-- KEYS  1 confirmed
-- Returns  id of the history (`parts/history.lua`)
redis.call('SET', KEYS[1], '')
return history()
