#!lua flags=allow-oom
-- Replaces the state of a webhook, if it still is what the caller knows.
--
-- KEYS  1 webhooks
-- ARGV  1 name of the webhook   2 what it is   3 what it becomes
-- Returns  1 when it was replaced, or had been by this very call; 0 otherwise
local now = redis.call('HGET', KEYS[1], ARGV[1])
if now == ARGV[3] then return 1 end
if now ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
