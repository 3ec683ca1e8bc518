#!lua
-- Records the trace of the request that saved or deleted entities. Clears the hash if it would exceed its maximum.
--
-- KEYS  1 traces of a tenant
-- ARGV  1 trace with its time   2 maximum number of entities   3 time to live in seconds   then the entities
-- Returns  OK
if redis.call('HLEN', KEYS[1]) + #ARGV - 3 > tonumber(ARGV[2]) then redis.call('DEL', KEYS[1]) end
for at = 4, #ARGV do redis.call('HSET', KEYS[1], ARGV[at], ARGV[1]) end
redis.call('EXPIRE', KEYS[1], ARGV[3])
return redis.status_reply('OK')
