#!lua flags=no-writes
-- Reads when the current state of an entity was accepted, without returning its record, which may be large.
--
-- KEYS  1 entities
-- ARGV  1 originId
-- Returns  the stamp as text; nil for a missing entity
local record = redis.call('HGET', KEYS[1], ARGV[1])
return record and string.format('%016.0f', (struct.unpack('>d', string.sub(record, 33, 40))))
