#!lua flags=no-writes
-- Reads the log of an environment after a position, in the order of sequences.
--
-- KEYS  1 log   2 traces   3 logs   4 clock
-- ARGV  1 position in the log   2 position in the traces   3 maximum number of entries of each   4 tenant and environment
--       5 last sequence to include
-- Returns  {horizon, last sequence of the partition, number of its last announcement, members and sequences of the log,
--          members and sequences of traces}
local clock = redis.call('HMGET', KEYS[4], 'log', 'changes')
local function behind(key, position)
  return redis.call('ZRANGEBYSCORE', key, '(' .. position, ARGV[5], 'WITHSCORES', 'LIMIT', 0, ARGV[3])
end
return {
  redis.call('HGET', KEYS[3], ARGV[4]) or '0', clock[1] or '0', clock[2] or '0',
  behind(KEYS[1], ARGV[1]), behind(KEYS[2], ARGV[2]),
}
