-- Returns the history of the Redis that runs the script. Each start of a Redis that may forget begins another history,
-- and so does each failover of a cluster.
--
-- Returns  history(): id of the history
local function history()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end
