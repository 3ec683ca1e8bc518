#!lua flags=allow-oom
-- Replaces the state of a webhook if it is still the expected one.
--
-- KEYS  1 webhooks
-- ARGV  1 name of the webhook   2 expected state   3 new state
-- Returns  1 if replaced, now or by an earlier attempt of this call; else 0
local now = redis.call('HGET', KEYS[1], ARGV[1])
if now == ARGV[3] then return 1 end
if now ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
