#!lua
-- Does nothing. A full Redis refuses even this, because the script has no flag `allow-oom`.
--
-- KEYS  1 any
-- Returns  1; error OOM
return 1
