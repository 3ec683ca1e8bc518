#!lua flags=no-writes
-- Checks which texts are in an ordered list. After `parts/ordered-lists.lua`.
--
-- KEYS  1 list   2 `never`, as in `list-page.lua`
-- ARGV  texts
-- Returns  1 or 0 per text
local list, found = orderedList(KEYS[1]), {}
for at, text in ipairs(ARGV) do found[at] = has(list, text) and 1 or 0 end
return found
