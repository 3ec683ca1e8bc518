#!lua flags=allow-oom
-- Takes, renews or releases the ownership of a partition. Uses the clock of Redis, so that workers need no common clock. If
-- that clock is set back, leases seem to last longer: then a worker that has seen no renewal for a whole lease time may take
-- the lease. If it is set forward, leases end early. In both cases the new epoch fences the former owner: if two workers
-- believe that they own a partition, only the later one can commit.
--
-- KEYS  1 owner
-- ARGV  1 'take' | 'renew' | 'release'   2 worker id   3 lease in ms   4 epoch (renew, release; take: of the lease that was
--       not renewed, if any)   5 history in which it was taken, or '' (renew); `leaseUntilMs` of that lease (take)
-- Returns  take: {epoch, checkpoint, commits, history} or {0, ms until the lease ends}; renew, release: 1, or 0 if the caller
--          does not hold the lease, or not in that history (`parts/history.lua`)
local action, worker = ARGV[1], ARGV[2]
local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local owner = redis.call('HMGET', KEYS[1], 'worker', 'leaseUntilMs', 'epoch', 'checkpoint', 'commits')
if action == 'take' then
  local untilMs = tonumber(owner[2] or 0)
  local isUnrenewed = owner[1] ~= worker and owner[3] == ARGV[4] and owner[2] == ARGV[5]
  if owner[1] and owner[1] ~= '' and untilMs > nowMs and not isUnrenewed then
    -- A repeated call of this worker, which already took the lease.
    if owner[1] ~= worker then return { 0, untilMs - nowMs } end
    return { tonumber(owner[3]), tonumber(owner[4] or 0), tonumber(owner[5] or 0), history() }
  end
  local epoch = redis.call('HINCRBY', KEYS[1], 'epoch', 1)
  redis.call('HSET', KEYS[1], 'worker', worker, 'leaseUntilMs', nowMs + tonumber(ARGV[3]))
  return { epoch, tonumber(owner[4] or 0), tonumber(owner[5] or 0), history() }
end
if owner[1] ~= worker or owner[3] ~= ARGV[4] then return 0 end
if action == 'renew' then
  if ARGV[5] ~= '' and ARGV[5] ~= history() then return 0 end
  redis.call('HSET', KEYS[1], 'leaseUntilMs', nowMs + tonumber(ARGV[3]))
else
  redis.call('HSET', KEYS[1], 'worker', '', 'leaseUntilMs', 0)
end
return 1
