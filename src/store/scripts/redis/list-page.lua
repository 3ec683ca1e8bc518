#!lua flags=no-writes
-- Reads an ordered list leaf by leaf until the requested texts are among those read. After `parts/ordered-lists.lua`.
--
-- KEYS  1 list   2 `never`, which never exists, so that Redis refuses the call while a slot moves, instead of missing a leaf
-- ARGV  1 'ascending' or 'descending'   2 lower limit (exclusive), or ''   3 upper limit (exclusive), or ''
--       4 number of requested texts
-- Returns  unsorted texts, which may include some outside the limits
local list = orderedList(KEYS[1])
local isAscending, most = ARGV[1] == 'ascending', tonumber(ARGV[4])
local from = '[' .. (boundOf(list, ARGV[2]) or '')
local to = ARGV[3] == '' and '+' or '(' .. ARGV[3]

local function nextBound()
  if isAscending then return redis.call('ZRANGEBYLEX', list.key, from, to, 'LIMIT', '0', '1')[1] end
  return redis.call('ZREVRANGEBYLEX', list.key, to, from, 'LIMIT', '0', '1')[1]
end

-- The first leaf does not count, because any number of its texts may be outside the limits.
local texts, sure = {}, nil
local bound = nextBound()
while bound and (not sure or sure < most) do
  local ofLeaf = redis.call('LRANGE', list.leaves .. bound, 0, -1)
  for _, text in ipairs(ofLeaf) do texts[#texts + 1] = text end
  sure = sure and sure + #ofLeaf or 0
  if isAscending then from = '(' .. bound else to = '(' .. bound end
  bound = nextBound()
end
return texts
