#!lua flags=no-writes
-- The owners of partitions, and what the time is there.
--
-- KEYS  owners of any number of partitions
-- Returns  {time in ms, then of each partition {worker, leaseUntilMs, epoch, checkpoint}, nil where there is none}
local time = redis.call('TIME')
local owners = { tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) }
for at, key in ipairs(KEYS) do
  owners[at + 1] = redis.call('HMGET', key, 'worker', 'leaseUntilMs', 'epoch', 'checkpoint')
end
return owners
