#!lua flags=no-writes
-- Reads when the current state of an entity was accepted, without returning its record, which may be large.
--
-- After `parts/entity-heads.lua`.
--
-- KEYS  1 entities
-- ARGV  1 originId
-- Returns  the stamp as text; nil for a missing entity
local stamp
eachHead(KEYS[1], { ARGV[1] }, function(_, head) stamp = stampsOf(head) end)
return stamp and string.format('%016.0f', stamp)
