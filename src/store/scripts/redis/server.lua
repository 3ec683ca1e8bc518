#!lua flags=no-writes
-- Identifies the server process that serves a key. It changes after a restart, a failover, or a move of the key's slot.
--
-- KEYS  1 any
-- Returns  id of the process
return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
