-- Ordered lists: texts in byte order, in a fraction of the memory of a sorted set. A text is never empty.
--
-- A list is split into leaves. Its key is a sorted set, all scores 0, of their lower bounds, the first of which is ''. The leaf
-- of a bound is a Redis list: the texts from this bound to the next one, unsorted, at least one and at most `leafMax`. An empty
-- list has no key. `lengths` has the number of texts of each list.
-- Readers sort the texts of a leaf. Lua's `<` cannot, because it uses the server's locale.
-- Calls of Redis take nearly all of the time here: two per text. A number as an argument costs more than a string.

local leafMax = 128
-- In bytes. A leaf has at most one text that is longer, so that a leaf, which is read as a whole, stays small: one of the
-- longest URLs and 127 texts of this length have 81 KB.
local longText = 512
-- A leaf that shrinks to this number of texts is joined with a neighbour that has no more. So one of two neighbours is larger,
-- unless a long text separates them.
local smallLeaf = 32

-- The keys of a list, as in `store/keys.ts`. `leaves` is the prefix of the keys of its leaves. It contains the length of the
-- list's name, so that leaves of two lists never have the same key.
local function orderedList(key)
  local tagEnd = string.find(key, '}', 1, true)
  local tag, name = string.sub(key, 1, tagEnd), string.sub(key, tagEnd + 2)
  local leaves = tag .. ':leaf:' .. #name .. ':' .. name .. ':'
  return { key = key, leaves = leaves, lengths = tag .. ':lengths', never = tag .. ':never' }
end

-- The bound of the leaf to which a text belongs; nil if the list is empty.
local function boundOf(list, text)
  return redis.call('ZREVRANGEBYLEX', list.key, '[' .. text, '-', 'LIMIT', '0', '1')[1]
end

local function has(list, text)
  local bound = boundOf(list, text)
  return bound and redis.call('LPOS', list.leaves .. bound, text) and true or false
end

-- Sorts the texts of a leaf. SORT compares bytes only with STORE; without, it also uses the locale.
local function order(leaf)
  redis.call('SORT', leaf, 'ALPHA', 'STORE', leaf)
end

-- Moves the texts of a sorted leaf from a position, which is not the first, to a new leaf.
local function cut(list, bound, place)
  local leaf = list.leaves .. bound
  local upper = redis.call('LINDEX', leaf, place)
  redis.call('COPY', leaf, list.leaves .. upper)
  redis.call('LTRIM', leaf, 0, place - 1)
  redis.call('LTRIM', list.leaves .. upper, place, -1)
  redis.call('ZADD', list.key, '0', upper)
end

local function split(list, bound)
  order(list.leaves .. bound)
  cut(list, bound, leafMax / 2)
end

-- Cuts a leaf before each of its long texts, except before its first text. Returns whether it was cut.
local function part(list, bound)
  local leaf, isCut = list.leaves .. bound, false
  order(leaf)
  local texts = redis.call('LRANGE', leaf, 0, -1)
  for place = #texts, 2, -1 do
    if #texts[place] > longText then
      cut(list, bound, place - 1)
      isCut = true
    end
  end
  return isCut
end

-- Adds a text that is not in the list. A check would cost half as much again. If corruption has left the text in the list, it
-- is there twice until it is removed.
local function put(list, text)
  local bound = boundOf(list, text)
  if not bound then
    bound = ''
    redis.call('ZADD', list.key, '0', bound)
  end
  local size = redis.call('RPUSH', list.leaves .. bound, text)
  local isCut = #text > longText and part(list, bound)
  if size > leafMax and not isCut then split(list, bound) end
end

local function hasLong(texts)
  for _, text in ipairs(texts) do
    if #text > longText then return true end
  end
  return false
end

-- Returns the position of the last text in the leaf of the text at `from`, among at most `most` texts, and the bound of the
-- text after it, if known. If two texts are in a leaf, so are all between them. The search doubles its steps, so that a text
-- alone in its leaf costs a single lookup, which the next text needs anyway.
local function lastInLeaf(list, texts, from, bound, most)
  local last, step = math.min(#texts, from + most - 1), 1
  local low, high, boundOfHigh = from, nil, nil
  while low < last and not high do
    local at = math.min(low + step, last)
    local found = boundOf(list, texts[at])
    if found == bound then low, step = at, step * 2 else high, boundOfHigh = at, found end
  end
  while high and high - low > 1 do
    local at = math.floor((low + high) / 2)
    local found = boundOf(list, texts[at])
    if found == bound then low = at else high, boundOfHigh = at, found end
  end
  return low, boundOfHigh
end

-- Adds texts in byte order that are not in the list. Texts of the same leaf are added together, because the texts of a batch
-- are often neighbours.
local function putAll(list, texts)
  local bound = #texts > 1 and not hasLong(texts) and boundOf(list, texts[1])
  if not bound then
    for _, text in ipairs(texts) do put(list, text) end
    return
  end
  local from = 1
  while from <= #texts do
    local last, boundOfNext = lastInLeaf(list, texts, from, bound, leafMax / 2)
    local size = redis.call('RPUSH', list.leaves .. bound, unpack(texts, from, last))
    if size > leafMax then split(list, bound) end
    from = last + 1
    bound = boundOfNext or from <= #texts and boundOf(list, texts[from])
  end
end

-- Joins two neighbouring leaves if together they have at most `most` texts, and either the upper one has no long text or the
-- lower one is empty. Returns whether they were joined.
local function join(list, lower, upper, most)
  if not lower or not upper then return false end
  local size, sizeOfUpper = redis.call('LLEN', list.leaves .. lower), redis.call('LLEN', list.leaves .. upper)
  if size + sizeOfUpper > most then return false end
  local texts = redis.call('LRANGE', list.leaves .. upper, 0, -1)
  if size > 0 and hasLong(texts) then return false end
  if #texts > 0 then redis.call('RPUSH', list.leaves .. lower, unpack(texts)) end
  redis.call('DEL', list.leaves .. upper)
  redis.call('ZREM', list.key, upper)
  return true
end

-- Joins a leaf with a neighbour if possible. If it is empty, it is removed in any case.
local function shrink(list, bound, size, most)
  local lower = redis.call('ZREVRANGEBYLEX', list.key, '(' .. bound, '-', 'LIMIT', '0', '1')[1]
  local upper = redis.call('ZRANGEBYLEX', list.key, '(' .. bound, '+', 'LIMIT', '0', '1')[1]
  if join(list, lower, bound, most) or join(list, bound, upper, most) or size > 0 then return end
  redis.call('ZREM', list.key, bound)
end

-- Returns how often the text was in the list: at most once, unless data is corrupt.
local function remove(list, text)
  local bound = boundOf(list, text)
  if not bound then return 0 end
  local leaf = list.leaves .. bound
  local gone = redis.call('LREM', leaf, 0, text)
  if gone == 0 then return 0 end
  local size = redis.call('LLEN', leaf)
  if size == 0 or #text > longText then
    -- A long text had cut a leaf, which is now joined again. Otherwise the text would remain as a bound, in two keys.
    shrink(list, bound, size, leafMax)
  elseif size == smallLeaf then
    shrink(list, bound, size, 2 * smallLeaf)
  end
  return gone
end

-- Adds texts in byte order that are not in the list, and others that may be in it, then removes texts.
local function changeList(key, new, kept, removed)
  if #new + #kept + #removed == 0 then return end
  local list, change = orderedList(key), #new
  putAll(list, new)
  for _, text in ipairs(kept) do
    if not has(list, text) then
      put(list, text)
      change = change + 1
    end
  end
  for _, text in ipairs(removed) do change = change - remove(list, text) end
  if change ~= 0 and redis.call('HINCRBY', list.lengths, key, change) == 0 then
    redis.call('HDEL', list.lengths, key)
  end
end

-- Keys to access before the first write. While a slot moves, access to a missing key ends the script. `never` never exists, so
-- every script that would change a list of the slot ends, because it cannot know which leaves are missing.
local function keysOfList(key)
  local list = orderedList(key)
  return { list.key, list.lengths, list.never }
end
