#!lua flags=allow-oom
-- One write that a full Redis would refuse by itself, for what must go on then and holds no more than it ever does.
--
-- KEYS  1 any
-- ARGV  1 name of the command   then its words behind the key
-- Returns  what the command does
return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))
