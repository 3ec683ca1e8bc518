-- Moves claims and keeps right what follows from them, for scripts that begin with this: what is served, the list of
-- routes, the counts of clashes and of hidden redirects. After `parts/service.lua`, which is notified of each change of
-- service, and `parts/ordered-lists.lua`.
-- The cost of a claim does not depend on other claims on its field.
--
-- Claims come as a list of runs, each done before the next one: {'put' | 'drop' | 'renew', trail (`parts/service.lua`), what
-- the name of their list of routes ends with, fields, digests (8 bytes each; none for a commit), displays, packed
-- claims, of each claim 1 if its view may need a trace, of each claim the tag where its traces go}. The last list but one is
-- empty if no view needs a trace, the last one if all traces go where the trail says. A run of 'put' has
-- each field once, in the order of the bytes of its displays.
-- 'renew' derives again what follows from a claim, if the claim is there.
-- A claim is {sinceStamp, short source id, alias, originId, redirect, host, display}. The last three are left out at its end where
-- there is nothing to say: redirect is false for a page and `true` for a redirect that is only dropped, host is false for all
-- hosts; for the display see `displayOf`.
--
-- In the hash of claims, a field that one view claims has that claim, packed. A contested field has what is
-- served: the first claims of its hosts, best first, at most `hostsMax`, then whether there are more. Each claim of a
-- contested field also stands alone in the hash, under a field that begins with `r:` (`competingField`). Its rank is
-- twice in the sorted set of ranks, after the length of the claim field and the field itself: after `h`, its host and \0,
-- and after `w` if it is the first of its host. When the two differ the hash is right: a rank without its claim is removed.

local hostsMax = 32
-- First byte of a contested field's record: a list whose length takes two bytes.
local contestedMark = 220
local pageMark = string.byte('0')
-- Claims on URLs, in either form; handles have another mark.
local function isUrlField(field)
  local mark = string.byte(field)
  return mark == 117 or mark == 105
end

local function isPage(rank)
  return rank and string.byte(rank) == pageMark or false
end

local function ofHost(claim)
  return 'h' .. hostOf(claim) .. '\0'
end

-- The first of a field's ranks in a section, and its packed claim.
local function first(claimsKey, ranksKey, begin, section)
  local from = begin .. section
  while true do
    local member = redis.call('ZRANGEBYLEX', ranksKey, '[' .. from, '(' .. from .. '\255', 'LIMIT', 0, 1)[1]
    if not member then return nil, nil end
    local rank = string.sub(member, #from + 1)
    local packed = redis.call('HGET', claimsKey, competingField(begin, rank))
    if packed then return rank, packed end
    redis.call('ZREM', ranksKey, member)
  end
end

-- The only claim of a field becomes one of several.
local function contest(claimsKey, ranksKey, begin, packed)
  local claim = cmsgpack.unpack(packed)
  local rank = rankOf(claim)
  redis.call('HSET', claimsKey, competingField(begin, rank), packed)
  redis.call('ZADD', ranksKey, 0, begin .. ofHost(claim) .. rank, 0, begin .. 'w' .. rank)
end

-- Returns the rank and the packed claim of the first of the claim's host before and after.
local function changeCompeting(action, claimsKey, ranksKey, begin, claim, packed)
  local section, rank = ofHost(claim), rankOf(claim)
  local field = competingField(begin, rank)
  local before, packedBefore = first(claimsKey, ranksKey, begin, section)
  local old = redis.call('HGET', claimsKey, field)
  if old or action ~= 'put' then
    local oldRank = old and rankOf(cmsgpack.unpack(old)) or rank
    redis.call('ZREM', ranksKey, begin .. section .. rank, begin .. 'w' .. rank,
      begin .. section .. oldRank, begin .. 'w' .. oldRank)
    if action == 'renew' then packed, rank = old, oldRank end
  end
  if packed and action ~= 'drop' then
    redis.call('HSET', claimsKey, field, packed)
    redis.call('ZADD', ranksKey, 0, begin .. section .. rank)
  else
    redis.call('HDEL', claimsKey, field)
  end
  local after, packedAfter = first(claimsKey, ranksKey, begin, section)
  if before and before ~= after then redis.call('ZREM', ranksKey, begin .. 'w' .. before) end
  if after then redis.call('ZADD', ranksKey, 0, begin .. 'w' .. after) end
  return before, packedBefore, after, packedAfter
end

-- Redirects that are not served, since a page answers on every host: `store/claims/routes.ts` leaves them out.
local function hiddenOf(claimsKey, ranksKey, begin)
  if not isPage(first(claimsKey, ranksKey, begin, 'h\0')) then return 0 end
  return redis.call('ZLEXCOUNT', ranksKey, '[' .. begin .. 'w1', '(' .. begin .. 'w2')
end

-- What is served on a contested field: the first claims of its hosts, but no redirect where a page answers on every host.
local function recordOf(claimsKey, ranksKey, begin)
  local isPageEverywhere = isPage(first(claimsKey, ranksKey, begin, 'h\0'))
  local to = begin .. (isPageEverywhere and 'w1' or 'w2')
  local winners = redis.call('ZRANGEBYLEX', ranksKey, '[' .. begin .. 'w', '(' .. to, 'LIMIT', 0, hostsMax + 1)
  local fields, claims = {}, {}
  for at = 1, math.min(#winners, hostsMax) do fields[at] = competingField(begin, string.sub(winners[at], #begin + 2)) end
  local found = #fields > 0 and redis.call('HMGET', claimsKey, unpack(fields)) or {}
  for _, packed in ipairs(found) do
    if packed then claims[#claims + 1] = packed end
  end
  local head = string.char(contestedMark, 0, #claims + 1)
  return head .. table.concat(claims) .. (#winners > hostsMax and '\195' or '\194')
end

-- Returns the record of a field that was contested (false for none), the number of its claims, and the number of its hidden
-- redirects. A claim that is left alone needs no rank.
local function settle(claimsKey, ranksKey, field, record, isRenewed)
  local begin = #field .. ':' .. field
  local count = redis.call('ZLEXCOUNT', ranksKey, '[' .. begin .. 'h', '(' .. begin .. 'i')
  if count == 0 then return false, count, 0 end
  if count == 1 then
    local rank, packed = first(claimsKey, ranksKey, begin, 'w')
    if packed then
      redis.call('HDEL', claimsKey, competingField(begin, rank))
      redis.call('ZREM', ranksKey, begin .. 'w' .. rank, begin .. ofHost(cmsgpack.unpack(packed)) .. rank)
      return packed, count, 0
    end
  end
  local now = isRenewed and recordOf(claimsKey, ranksKey, begin) or record
  return now, count, hiddenOf(claimsKey, ranksKey, begin)
end

-- A claim on a field with others. Returns whether what is served changed.
local function changeContested(run, field, begin, isUrl, claim, packed)
  local claimsKey, ranksKey, served = run.claimsKey, run.ranksKey, run.served
  local before, was, after, is = changeCompeting(run.action, claimsKey, ranksKey, begin, claim, packed)
  if isUrl and was then served[displayOf(field, cmsgpack.unpack(was))] = false end
  if isUrl and is then served[displayOf(field, cmsgpack.unpack(is))] = true end
  local isRedirect = (before and not isPage(before)) or (after and not isPage(after))
  if claim[6] and isRedirect and isPage(first(claimsKey, ranksKey, begin, 'h\0')) then
    if was and not isPage(before) and before ~= after then noteOvertaken(run, field, was) end
    was, is = isPage(before) and was, isPage(after) and is
  end
  if not claim[6] and isPage(before) ~= isPage(after)
    and redis.call('ZLEXCOUNT', ranksKey, '[' .. begin .. 'w1', '(' .. begin .. 'w2') > 0 then
    noteHiding(run, field, isPage(after))
  end
  if (was or false) == (is or false) then return false end
  noteService(run, field, claim[6], was or false, is or false)
  return true
end

-- The only claim of a field comes or goes.
local function noteOnly(run, field, packed, before, after)
  noteService(run, field, cmsgpack.unpack(packed)[6], before, after)
end

-- A claim on a field with no other. Returns the field's record, false for none.
local function changeOnly(run, field, isUrl, claim, packed, record, other)
  local now = record
  if run.action == 'put' then
    now = packed
  elseif run.action == 'drop' and other and sameClaim(other, claim) then
    now = false
  end
  if isUrl and other then run.served[displayOf(field, other)] = false end
  if isUrl and now then run.served[displayOf(field, cmsgpack.unpack(now))] = true end
  if now ~= record then noteService(run, field, claim[6], record, now) end
  return now
end

-- A field with one claim becomes contested when another view claims it. Damage may have left competing
-- claims without their record. They are found when a claim is dropped or renewed that the record does not have.
local function becomesContested(run, begin, claim, record, other)
  local isSame, isCompeting = other and sameClaim(other, claim), run.action == 'put'
  if isSame and run.action ~= 'renew' then return false end
  if not isCompeting then
    isCompeting = redis.call('HEXISTS', run.claimsKey, competingField(begin, rankOf(claim))) == 1
      or redis.call('ZLEXCOUNT', run.ranksKey, '[' .. begin, '(' .. begin .. '\255') > 0
  end
  if isCompeting and other then contest(run.claimsKey, run.ranksKey, begin, record) end
  return isCompeting
end

-- A key of a run's claim fields.
local function keyOfRun(trail, kind)
  return keyIn(trail[4], kind, trail[2], trail[3])
end

-- All keys that a run may write.
local function keysOfRun(run)
  local trail = run[2]
  local tag, tenant, environment = trail[1], trail[2], trail[3]
  local list, lengths, never = unpack(keysOfList(keyOfRun(trail, 'routes') .. run[3]))
  return {
    list, lengths, never, keyOfRun(trail, 'claims'), keyOfRun(trail, 'clashes'), keyOfRun(trail, 'ranks'),
    keyOfRun(trail, 'hidden'), keyOfRun(trail, 'left'), trail[4] .. ':logs',
    keyIn(tag, 'traces', tenant, environment), keyIn(tag, 'log-names', tenant, environment), tag .. ':logs',
  }
end

-- Applies one run to its keys. They are read at once, changed here and written at once; contested fields go one by one.
local function changeRun(digests, action, trail, routesEnd, fields, fieldDigests, displays, claims, isTraced, traceTags)
  local claimsKey, ranksKey = keyOfRun(trail, 'claims'), keyOfRun(trail, 'ranks')
  local stored = {}
  for from = 1, #fields, chunk do
    local found = redis.call('HMGET', claimsKey, unpack(fields, from, math.min(#fields, from + chunk - 1)))
    for index = 1, #found do stored[fields[from + index - 1]] = found[index] end
  end
  local puts, drops, clashes, clears = {}, {}, {}, {}
  -- URLs that come into the list of routes, that stay there or come, and that go.
  local new, kept, gone = {}, {}, {}
  -- By field that had claims: its record in the end, and the number of its claims. By URL: whether it is served.
  local changed, counts, served = {}, {}, {}
  local run = { action = action, claimsKey = claimsKey, ranksKey = ranksKey, served = served, trail = trail }
  -- Contested fields, and whether their record is made again. Most runs have none.
  local contested = nil
  for at = 1, #fields do
    local field, digest, packed = fields[at], fieldDigests[at], claims[at]
    local isUrl = isUrlField(field)
    local record = stored[field]
    run.traceTag = traceTags[at] or trail[1]
    if not record and action == 'put' then
      -- The first claim of a field, as nearly all are: there is nothing to compare with.
      stored[field] = packed
      puts[#puts + 1], puts[#puts + 2] = field, packed
      if isUrl then new[#new + 1] = displays[at] end
      digests[#digests + 1] = digest
      noteFresh(claimsKey, field, packed, isTraced[at] == 1 and 2 or 1)
      if isTraced[at] == 1 or #serviceList > 0 then noteOnly(run, field, packed, false, packed) end
    elseif record == packed and action == 'drop' and not contested then
      -- The only one.
      stored[field], changed[field] = false, false
      if isUrl then served[displays[at]] = false end
      digests[#digests + 1] = digest
      silent[claimIn(claimsKey, field, packed)] = isTraced[at] ~= 1
      noteOnly(run, field, packed, packed, false)
    else
      local claim, begin = cmsgpack.unpack(packed), #field .. ':' .. field
      silent[claimIn(claimsKey, field, packed)] = isTraced[at] ~= 1
      if isUrl then served[displays[at]] = false end
      local isContested = contested and contested[field] ~= nil or record and string.byte(record) == contestedMark
      local other = record and not isContested and cmsgpack.unpack(record)
      local isRenewed = action == 'renew' or contested and contested[field]
      if not isContested and becomesContested(run, begin, claim, record, other) then
        isContested, isRenewed = true, true
      end
      if isContested then
        local isNew = changeContested(run, field, begin, isUrl, claim, packed)
        if isNew then digests[#digests + 1] = digest end
        contested = contested or {}
        contested[field] = isRenewed or isNew or false
      else
        local now = changeOnly(run, field, isUrl, claim, packed, record, other)
        if now ~= record then
          stored[field], changed[field] = now, now
          digests[#digests + 1] = digest
        end
        if action == 'renew' then
          counts[field] = 0
          redis.call('HDEL', keyOfRun(trail, 'hidden'), field)
        end
      end
    end
  end
  for field, isRenewed in pairs(contested or {}) do
    local record, count, hidden = settle(claimsKey, ranksKey, field, stored[field], isRenewed)
    if record ~= stored[field] then changed[field] = record end
    counts[field] = count
    if isUrlField(field) and hidden > 0 then
      redis.call('HSET', keyOfRun(trail, 'hidden'), field, hidden)
    elseif isUrlField(field) then
      redis.call('HDEL', keyOfRun(trail, 'hidden'), field)
    end
  end
  -- First claims are in the lists already; what became of them later in the run comes after.
  for field, value in pairs(changed) do
    if value then
      puts[#puts + 1], puts[#puts + 2] = field, value
    else
      drops[#drops + 1] = field
    end
  end
  for field, count in pairs(counts) do
    if count > 1 then
      clashes[#clashes + 1], clashes[#clashes + 2] = field, count
    else
      clears[#clears + 1] = field
    end
  end
  for url, isServed in pairs(served) do
    if isServed then
      kept[#kept + 1] = url
    else
      gone[#gone + 1] = url
    end
  end
  callEach('HSET', claimsKey, puts)
  callEach('HDEL', claimsKey, drops)
  if #clashes + #clears > 0 then
    local clashesKey = keyOfRun(trail, 'clashes')
    callEach('HSET', clashesKey, clashes)
    callEach('HDEL', clashesKey, clears)
  end
  changeList(keyOfRun(trail, 'routes') .. routesEnd, new, kept, gone)
end

-- Returns the digests of the fields whose service changed. `tellServices` must follow.
local function moveClaims(runs)
  local digests = {}
  for _, run in ipairs(runs) do changeRun(digests, unpack(run)) end
  return digests
end
