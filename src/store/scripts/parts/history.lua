-- Identifies the history of the Redis that runs the script. A start of a Redis that may have lost writes begins another
-- history, and so does a failover of a cluster.
--
-- Returns  history(): id of the history
local function history()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end
