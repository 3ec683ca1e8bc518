#!lua flags=no-writes
-- Which server process answers for a key: another one after a restart, a failover, or when its slot has moved.
--
-- KEYS  1 any
-- Returns  id of the process
return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
