#!lua flags=allow-oom
-- Writes a key, so that a WAIT afterwards covers all earlier writes to this master. Returns the history of the master; a
-- replica that becomes a master starts a new one.
--
-- KEYS  1 confirmed
-- Returns  id of the history (`parts/history.lua`)
redis.call('SET', KEYS[1], '')
return history()
