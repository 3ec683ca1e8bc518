-- Moves claims and updates everything derived from them: what is served, the lists of routes, and the counts of clashes and of
-- hidden redirects. After `parts/service.lua`, which is notified of each change of service, and `parts/ordered-lists.lua`.
-- The cost of a claim does not depend on the number of other claims on its field.
--
-- Claims are given as a list of runs, which are applied in order: {'put' | 'drop' | 'renew', trail (`parts/service.lua`),
-- suffix of the key of their list of routes, fields, digests (8 bytes each; none for a commit), displays, packed claims, per
-- claim 1 if its view may need a trace, per claim the tag of the partition for its traces}. The second-to-last list is empty if
-- no view needs a trace, the last one if all traces go to the partition of the trail. A run of 'put' has each field once, in
-- the byte order of its displays.
-- 'renew' derives everything again from a claim, if the claim exists.
-- A claim is {sinceStamp, short source id, alias, originId, redirect, host, display}. Of the last three, default values at the
-- end are left out: redirect is false for a page and `true` for a redirect that is only dropped, host is false for all hosts;
-- for the display see `displayOf`.
--
-- In the hash of claims, the value of a field with one claim is that claim, packed. The value of a contested field is what is
-- served: the first claims of its hosts, best first, at most `hostsMax`, then whether there are more. Each claim of a contested
-- field also has a separate field in the hash, which begins with `r:` (`competingField`). The sorted set of ranks contains its
-- rank after a prefix of the length of the claim field and the field itself: once after `h`, its host and \0, and if it is the
-- first of its host, again after `w`. The hash is authoritative: a rank without its claim is removed.

local hostsMax = 32
-- First byte of a contested field's record: an array in MessagePack whose length takes two bytes.
local contestedMark = 220
local pageMark = string.byte('0')
-- True for URLs in either form; handles have another mark.
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

-- The first rank of a field in a section, and its packed claim.
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

-- Turns the only claim of a field into a competing one.
local function contest(claimsKey, ranksKey, begin, packed)
  local claim = cmsgpack.unpack(packed)
  local rank = rankOf(claim)
  redis.call('HSET', claimsKey, competingField(begin, rank), packed)
  redis.call('ZADD', ranksKey, 0, begin .. ofHost(claim) .. rank, 0, begin .. 'w' .. rank)
end

-- Returns the rank and the packed claim of the first claim of the same host, before and after the change.
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

-- Number of redirects that are not served because a page is served on all hosts; `store/claims/routes.ts` leaves them out.
local function hiddenOf(claimsKey, ranksKey, begin)
  if not isPage(first(claimsKey, ranksKey, begin, 'h\0')) then return 0 end
  return redis.call('ZLEXCOUNT', ranksKey, '[' .. begin .. 'w1', '(' .. begin .. 'w2')
end

-- The record of a contested field: the first claims of its hosts, without redirects if a page is served on all hosts.
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
-- redirects. A single remaining claim has no rank.
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

-- Applies a claim to a contested field. Returns whether what is served changed.
local function changeContested(run, field, begin, isUrl, claim, packed)
  local claimsKey, ranksKey, served = run.claimsKey, run.ranksKey, run.served
  local before, was, after, is = changeCompeting(run.action, claimsKey, ranksKey, begin, claim, packed)
  if isUrl and was then served[displayOf(field, cmsgpack.unpack(was))] = false end
  if isUrl and is then served[displayOf(field, cmsgpack.unpack(is))] = true end
  local isRedirect = (before and not isPage(before)) or (after and not isPage(after))
  if claim[6] and isRedirect and isPage(first(claimsKey, ranksKey, begin, 'h\0')) then
    if was and not isPage(before) and before ~= after then recordOvertaken(run, field, was) end
    was, is = isPage(before) and was, isPage(after) and is
  end
  if not claim[6] and isPage(before) ~= isPage(after)
    and redis.call('ZLEXCOUNT', ranksKey, '[' .. begin .. 'w1', '(' .. begin .. 'w2') > 0 then
    recordHiding(run, field, isPage(after))
  end
  if (was or false) == (is or false) then return false end
  recordService(run, field, claim[6], was or false, is or false)
  return true
end

-- Records that the only claim of a field was added or removed.
local function recordOnly(run, field, packed, before, after)
  recordService(run, field, cmsgpack.unpack(packed)[6], before, after)
end

-- Applies a claim to a field that is not contested. Returns the field's record, false for none.
local function changeOnly(run, field, isUrl, claim, packed, record, other)
  local now = record
  if run.action == 'put' then
    now = packed
  elseif run.action == 'drop' and other and sameClaim(other, claim) then
    now = false
  end
  if isUrl and other then run.served[displayOf(field, other)] = false end
  if isUrl and now then run.served[displayOf(field, cmsgpack.unpack(now))] = true end
  if now ~= record then recordService(run, field, claim[6], record, now) end
  return now
end

-- A field with one claim becomes contested when another view claims it. Corruption may have left competing claims without their
-- record. They are found when a claim is renewed, or when a claim that is not in the record is dropped.
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

-- A key in the partition of a run's claim fields.
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

-- Applies one run. All fields are read together and written together; contested fields are processed one by one.
local function changeRun(digests, action, trail, routesEnd, fields, fieldDigests, displays, claims, isTraced, traceTags)
  local claimsKey, ranksKey = keyOfRun(trail, 'claims'), keyOfRun(trail, 'ranks')
  local stored = {}
  for from = 1, #fields, chunk do
    local found = redis.call('HMGET', claimsKey, unpack(fields, from, math.min(#fields, from + chunk - 1)))
    for index = 1, #found do stored[fields[from + index - 1]] = found[index] end
  end
  local puts, drops, clashes, clears = {}, {}, {}, {}
  -- URLs to add to the list of routes, to add unless it has them, and to remove.
  local new, kept, gone = {}, {}, {}
  -- By field that had claims: its final record, and the number of its claims. By URL: whether it is served.
  local changed, counts, served = {}, {}, {}
  local run = { action = action, claimsKey = claimsKey, ranksKey = ranksKey, served = served, trail = trail }
  -- Contested fields, and whether to rebuild their record. Most runs have none.
  local contested = nil
  for at = 1, #fields do
    local field, digest, packed = fields[at], fieldDigests[at], claims[at]
    local isUrl = isUrlField(field)
    local record = stored[field]
    run.traceTag = traceTags[at] or trail[1]
    if not record and action == 'put' then
      -- Nearly all claims are the first of their field, with nothing to compare with.
      stored[field] = packed
      puts[#puts + 1], puts[#puts + 2] = field, packed
      if isUrl then new[#new + 1] = displays[at] end
      digests[#digests + 1] = digest
      recordFresh(claimsKey, field, packed, isTraced[at] == 1 and 2 or 1)
      if isTraced[at] == 1 or #serviceList > 0 then recordOnly(run, field, packed, false, packed) end
    elseif record == packed and action == 'drop' and not contested then
      -- The only claim of the field.
      stored[field], changed[field] = false, false
      if isUrl then served[displays[at]] = false end
      digests[#digests + 1] = digest
      silent[claimIn(claimsKey, field, packed)] = isTraced[at] ~= 1
      recordOnly(run, field, packed, packed, false)
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
  -- First claims are already in `puts`; later changes to them in this run come after them and win.
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

-- Returns the digests of the fields whose service changed. Call `notifyServices` afterwards.
local function moveClaims(runs)
  local digests = {}
  for _, run in ipairs(runs) do changeRun(digests, unpack(run)) end
  return digests
end
