#!lua
-- Does nothing, which a full Redis refuses of a script that does not say that it may run then.
--
-- KEYS  1 any
-- Returns  1; error OOM
return 1
