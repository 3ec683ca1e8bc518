#!lua
-- Changes a tenant's form of URLs by one step (`store/configuration/url-forms.ts`).
--
-- KEYS  1 configuration   2 layouts
-- ARGV  1 generation of the configuration that requires it   2 field of the tenant   3 default state
--       4 required state   5 new state
-- Returns  1; 0 if another configuration is active or the tenant is in another state
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
if (redis.call('HGET', KEYS[2], ARGV[2]) or ARGV[3]) ~= ARGV[4] then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[5])
redis.call('HINCRBY', KEYS[2], 'version', 1)
return 1
