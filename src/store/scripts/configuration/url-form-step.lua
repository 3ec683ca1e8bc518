#!lua
-- Makes one step from one form of URLs to another, for a tenant (`store/configuration/url-forms.ts`).
--
-- KEYS  1 configuration   2 layouts
-- ARGV  1 generation of the configuration that asks for it   2 field of the tenant   3 state of a tenant without one
--       4 state that it must be in   5 state that it comes to
-- Returns  1; 0 when another configuration is active or the tenant is in another state
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
if (redis.call('HGET', KEYS[2], ARGV[2]) or ARGV[3]) ~= ARGV[4] then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[5])
redis.call('HINCRBY', KEYS[2], 'version', 1)
return 1
