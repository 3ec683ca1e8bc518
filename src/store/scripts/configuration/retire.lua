#!lua
-- Stops maintaining lookup layouts that no worker reads any longer, unless the layouts have changed since.
--
-- KEYS  1 layouts
-- ARGV  1 version of the layouts that all workers know   then fields of sources
-- Returns  1, or 0 if there is a newer version
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return 0 end
for at = 2, #ARGV do redis.call('HDEL', KEYS[1], 'b|' .. ARGV[at]) end
redis.call('HINCRBY', KEYS[1], 'version', 1)
return 1
