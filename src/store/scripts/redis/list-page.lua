#!lua flags=no-writes
-- Reads an ordered list leaf by leaf, until the texts that were asked for are among those read. Behind
-- `parts/ordered-lists.lua`.
--
-- KEYS  1 list   2 `never`, which is never there: while a slot moves, Redis refuses the call instead of missing a leaf
-- ARGV  1 'ascending' or 'descending'   2 text after which the asked ones are, or ''   3 text before which they are, or ''
--       4 how many are asked for
-- Returns  texts in no order, among them others before and after those asked for
local list = orderedList(KEYS[1])
local isAscending, most = ARGV[1] == 'ascending', tonumber(ARGV[4])
local from = '[' .. (boundOf(list, ARGV[2]) or '')
local to = ARGV[3] == '' and '+' or '(' .. ARGV[3]

local function nextBound()
  if isAscending then return redis.call('ZRANGEBYLEX', list.key, from, to, 'LIMIT', '0', '1')[1] end
  return redis.call('ZREVRANGEBYLEX', list.key, to, from, 'LIMIT', '0', '1')[1]
end

-- In the first leaf, any number of texts may lie before the beginning.
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
