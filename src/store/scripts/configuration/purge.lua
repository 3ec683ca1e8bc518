#!lua
-- Begins the purge of sources that the active configuration does not have, unless a purge is running. Meanwhile no
-- configuration with one of these sources can become active (`configuration/publish.lua`).
--
-- KEYS  1 configuration   2 purge
-- ARGV  1 token of the purge   2 generation of the configuration without them
--       then the sources as tenant|sourceId
-- Returns  token of the running purge; '' if another configuration is active
local token = redis.call('HGET', KEYS[2], 'token')
if token then return token end
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[2] then return '' end
redis.call('HSET', KEYS[2], 'token', ARGV[1], 'generation', ARGV[2])
for at = 3, #ARGV do redis.call('HSET', KEYS[2], ARGV[at], '1') end
return ARGV[1]
