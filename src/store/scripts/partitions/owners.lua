#!lua flags=no-writes
-- Reads the owners of partitions and the time of Redis.
--
-- KEYS  owners of any number of partitions
-- Returns  {time in ms, then per partition {worker, leaseUntilMs, epoch, checkpoint}, nil for missing values}
local time = redis.call('TIME')
local owners = { tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) }
for at, key in ipairs(KEYS) do
  owners[at + 1] = redis.call('HMGET', key, 'worker', 'leaseUntilMs', 'epoch', 'checkpoint')
end
return owners
