-- Ordered lists: texts in the order of their bytes, in a fraction of the memory of a sorted set. A text is never empty.
--
-- A list is cut into leaves. Its key is the sorted set, all scores 0, of their lower bounds, of which the first is ''. The
-- leaf of a bound is a list of Redis: the texts from this bound up to the next one, at most `leafMax`, in no order, at least
-- one. A list without texts has no key. `lengths` has the number of the texts of each list.
-- Who reads a leaf orders its texts. Lua's `<` cannot, because it goes by the server's locale.
-- Nearly all time here is that of calls of Redis: a text costs two, and a number in a call costs more than a text.

local leafMax = 128
-- Bytes. A leaf has at most one text that is longer. So a leaf, which is read as a whole, is small whatever its texts: one of
-- the longest URLs and 127 such texts have 81 KB.
local longText = 512
-- A leaf that has shrunk to so many texts becomes one with a neighbour that has no more. So of two neighbours one is larger,
-- where no long text has cut them.
local smallLeaf = 32

-- The keys of a list, as `store/keys.ts` names them. `leaves` is what those of its leaves begin with: the length of the list's
-- name keeps leaves of two lists apart, whatever their names and texts hold.
local function orderedList(key)
  local tagEnd = string.find(key, '}', 1, true)
  local tag, name = string.sub(key, 1, tagEnd), string.sub(key, tagEnd + 2)
  local leaves = tag .. ':leaf:' .. #name .. ':' .. name .. ':'
  return { key = key, leaves = leaves, lengths = tag .. ':lengths', never = tag .. ':never' }
end

-- The bound of the leaf where a text belongs; nil if the list has no texts.
local function boundOf(list, text)
  return redis.call('ZREVRANGEBYLEX', list.key, '[' .. text, '-', 'LIMIT', '0', '1')[1]
end

local function has(list, text)
  local bound = boundOf(list, text)
  return bound and redis.call('LPOS', list.leaves .. bound, text) and true or false
end

-- Orders the texts of a leaf. With STORE, SORT compares bytes; without, it goes by the locale, too.
local function order(leaf)
  redis.call('SORT', leaf, 'ALPHA', 'STORE', leaf)
end

-- The texts of an ordered leaf from a place on, which is not the first, move to a leaf of their own.
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

-- Long texts of a leaf begin leaves of their own, but for one that is the first there. Returns whether there were any.
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

-- Puts a text into a list that does not have it. To look for it would cost half as much again. If damage has left it there,
-- it is there twice until it is removed.
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

-- The last of the texts after a place that is in the same leaf, of at most so many, and the bound of the one after it, if that is
-- known. Where two texts are in one leaf, all between them are. The steps double, so that a lone text costs no more than before.
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

-- Puts texts, in the order of their bytes, into a list that has none of them. Those of one leaf go there together: what comes
-- together is often next to each other.
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

-- Two neighbours become one leaf, if together they have `most` texts at most, and the upper one has no long text or the lower
-- one no text at all. Returns whether they did.
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

-- A leaf becomes one with a neighbour if it can. If it is empty it goes anyhow.
local function shrink(list, bound, size, most)
  local lower = redis.call('ZREVRANGEBYLEX', list.key, '(' .. bound, '-', 'LIMIT', '0', '1')[1]
  local upper = redis.call('ZRANGEBYLEX', list.key, '(' .. bound, '+', 'LIMIT', '0', '1')[1]
  if join(list, lower, bound, most) or join(list, bound, upper, most) or size > 0 then return end
  redis.call('ZREM', list.key, bound)
end

-- Returns how often the text was there, which is once.
local function remove(list, text)
  local bound = boundOf(list, text)
  if not bound then return 0 end
  local leaf = list.leaves .. bound
  local gone = redis.call('LREM', leaf, 0, text)
  if gone == 0 then return 0 end
  local size = redis.call('LLEN', leaf)
  if size == 0 or #text > longText then
    -- A long text had cut a leaf, which becomes whole again. Otherwise the text would stay as a bound, in two keys.
    shrink(list, bound, size, leafMax)
  elseif size == smallLeaf then
    shrink(list, bound, size, 2 * smallLeaf)
  end
  return gone
end

-- Puts texts, in the order of their bytes, into a list that surely has none of them, and others that it may have, then takes texts
-- out.
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

-- Keys to look at before the first write. While a slot moves, a key that is not there ends the script. `never` is never there,
-- so it ends every script that would change a list of the slot: nobody can say which of its leaves are gone.
local function keysOfList(key)
  local list = orderedList(key)
  return { list.key, list.lengths, list.never }
end
