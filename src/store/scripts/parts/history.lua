-- Tells in which history the Redis is that runs the script: each start of one that may forget begins another, and so does
-- each failover of a cluster.
--
-- Returns  history(): id of the history
local function history()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end
