#!lua flags=allow-oom
-- One write that goes on when Redis is full: for data of bounded size that must be stored even then.
--
-- KEYS  1 any
-- ARGV  1 name of the command   then its words after the key
-- Returns  what the command does
return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))
