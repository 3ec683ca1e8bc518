#!lua
-- Does nothing. A full Redis refuses even that to a script without the flag `allow-oom`.
--
-- KEYS  1 any
-- Returns  1; error OOM
return 1
