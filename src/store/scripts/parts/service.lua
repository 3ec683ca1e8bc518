-- Tracks which claims are served before and after a call, and leaves traces of the views that won or lost one
-- (docs/design/changes.md). After `parts/change-log.lua`. Claims are as in `parts/claims.lua`, packed.
--
-- The `trail` of a claim is {tag of the partition for its traces, tenant, environment, tag of the partition of its field}.

local largestStamp = 9007199254740991

-- The URL or handle as the view wrote it. If it is missing, it equals the claim field without its mark.
local function displayOf(field, claim)
  return claim[7] or string.sub(field, 3)
end

local function kindOf(claim)
  return claim[5] and 1 or 0
end

local function hostOf(claim)
  return claim[6] or ''
end

local function sameClaim(a, b)
  return kindOf(a) == kindOf(b) and hostOf(a) == hostOf(b) and a[2] == b[2] and a[3] == b[3] and a[4] == b[4]
end

-- Ranks sort in the order in which claims are served: pages before redirects, then the latest first. Ids break ties, so that
-- the order does not depend on the number of partitions.
local function rankOf(claim)
  local age = string.format('%016.0f', largestStamp - tonumber(claim[1]))
  return kindOf(claim) .. age .. claim[3] .. '\0' .. claim[2] .. '\0' .. claim[4] .. '\0' .. hostOf(claim)
end

-- The field of a competing claim in the hash. It does not depend on the claim's age.
local function competingField(begin, rank)
  return 'r:' .. begin .. string.sub(rank, 1, 1) .. string.sub(rank, 18)
end

-- Changes of service, by claims key, claim field and host, and as a list.
local services, serviceList = {}, {}
-- By `claimIn`. `fresh`: claims that this call puts on fields without claims; 1 if their commit reports their view, else 2.
-- `silent`: true for other claims whose views their commit reports.
local fresh, silent = {}, {}
-- Key, field, claim and value of each claim that is not in `fresh` yet. Those of an import are never looked up, and the key of
-- each would have about a hundred bytes to hash.
local unnamed = {}

-- Identifies a packed claim on a field, because a view's claims on several fields or in several environments may be equal.
local function claimIn(claimsKey, field, packed)
  return claimsKey .. '\0' .. field .. '\0' .. packed
end

local function recordFresh(claimsKey, field, packed, value)
  local at = #unnamed
  unnamed[at + 1], unnamed[at + 2], unnamed[at + 3], unnamed[at + 4] = claimsKey, field, packed, value
end

-- The value of a claim in `fresh`, nil for other claims.
local function freshOf(place)
  for at = 1, #unnamed, 4 do fresh[claimIn(unnamed[at], unnamed[at + 1], unnamed[at + 2])] = unnamed[at + 3] end
  unnamed = {}
  return fresh[place]
end

-- The trail of the current claim of a run. Claims of a run may be from different commits, and hardly any needs its trail.
local function trailOf(run)
  local trail = run.trail
  if run.traceTag ~= trail[1] then run.trail = { run.traceTag, trail[2], trail[3], trail[4] } end
  return run.trail
end

local function recordService(run, field, host, before, after)
  local key = run.claimsKey .. '\0' .. field .. '\0' .. (host or '')
  local known = services[key]
  if known then
    known.after = after
    return
  end
  local isOfBefore = before and not freshOf(claimIn(run.claimsKey, field, before))
  local service = { trail = trailOf(run), claimsKey = run.claimsKey, field = field, before = isOfBefore and before, after = after }
  services[key] = service
  serviceList[#serviceList + 1] = service
end

-- Fields where a page on all hosts starts or stops hiding redirects on hosts, by claims key and field, and as a list.
local hidings, hidingList = {}, {}

-- One trace represents all of these redirects, because their number is unlimited. Its member is `f` and the claim field.
local function recordHiding(run, field, isHidden)
  local key = run.claimsKey .. '\0' .. field
  local known = hidings[key]
  if known then
    known.after = isHidden
    return
  end
  local hiding = { trail = trailOf(run), field = field, before = not isHidden, after = isHidden }
  hidings[key] = hiding
  hidingList[#hidingList + 1] = hiding
end

-- Redirects that are no longer first on their host while a page hides them. A later reader of the trace of the hiding finds
-- other redirects first, so each of these has its own trace.
local overtaken = {}

local function recordOvertaken(run, field, packed)
  overtaken[#overtaken + 1] = { trail = trailOf(run), claimsKey = run.claimsKey, field = field, packed = packed }
end

-- Collects traces, without duplicates.
local function leaveTrace(traces, trail, member)
  local key = keyIn(trail[1], 'traces', trail[2], trail[3])
  local ofKey = traces[key]
  if not ofKey then
    ofKey = { trail = trail, known = {}, members = {} }
    traces[key] = ofKey
  end
  if ofKey.known[member] then return end
  ofKey.known[member] = true
  ofKey.members[#ofKey.members + 1] = member
end

-- `change` has the location of the claim: {trail, claimsKey, field}.
local function leaveTraceOfView(traces, change, packed, claim)
  local trail, place = change.trail, claimIn(change.claimsKey, change.field, packed)
  if silent[place] or freshOf(place) == 1 then return end
  leaveTrace(traces, trail, memberStart(keyIn(trail[1], 'log-names', trail[2], trail[3]), claim[2] .. ':' .. claim[3]) .. claim[4])
end

-- Records a claim that is no longer served, in the partition of its field.
local function leave(trail, endedAt, member)
  redis.call('ZADD', keyIn(trail[4], 'left', trail[2], trail[3]), endedAt, member)
  rememberEnvironment(trail[4], trail[2], trail[3])
end

-- A hidden redirect on a host was last served when it was hidden. When another claim replaces it on its host, or it is dropped,
-- that time is recorded for the redirect itself, because the field's entry in `left` no longer covers it.
local function leaveHidden(lost, claim)
  local trail = lost.trail
  local leftKey = keyIn(trail[4], 'left', trail[2], trail[3])
  local member = competingField(#lost.field .. ':' .. lost.field, rankOf(claim))
  local hiddenAt, leftAt = unpack(redis.call('ZMSCORE', leftKey, 'h' .. lost.field, member))
  if not hiddenAt or tonumber(claim[1]) >= tonumber(hiddenAt) then return end
  if not leftAt or tonumber(leftAt) < tonumber(hiddenAt) then leave(trail, hiddenAt, member) end
end

local function notifyService(traces, endedAt, service)
  local before, after, trail = service.before, service.after, service.trail
  if before == after then return end
  local was = before and cmsgpack.unpack(before)
  local is = after and cmsgpack.unpack(after)
  local isKept = was and is and sameClaim(was, is)
  if was and not isKept then
    leave(trail, endedAt, competingField(#service.field .. ':' .. service.field, rankOf(was)))
    leaveTraceOfView(traces, service, before, was)
  end
  if is and not (isKept and was[7] == is[7]) then leaveTraceOfView(traces, service, after, is) end
end

-- Called once after all moves of a call or a group.
local function notifyServices()
  local some = serviceList[1] or overtaken[1]
  if not some then return end
  local traces, endedAt = {}, sequencesFrom(clockOf(some.trail[1]), 1)
  for _, service in ipairs(serviceList) do notifyService(traces, endedAt, service) end
  for _, hiding in ipairs(hidingList) do
    if hiding.before ~= hiding.after then
      leaveTrace(traces, hiding.trail, 'f' .. hiding.field)
      if hiding.after then leave(hiding.trail, endedAt, 'h' .. hiding.field) end
    end
  end
  for _, lost in ipairs(overtaken) do
    local claim = cmsgpack.unpack(lost.packed)
    leaveHidden(lost, claim)
    leaveTraceOfView(traces, lost, lost.packed, claim)
  end
  services, serviceList, hidings, hidingList, overtaken = {}, {}, {}, {}, {}
  for key, ofKey in pairs(traces) do
    local entries, sequence = {}, sequencesFrom(clockOf(ofKey.trail[1]), #ofKey.members)
    for at, member in ipairs(ofKey.members) do
      entries[at * 2 - 1], entries[at * 2] = sequence, member
      sequence = sequence + 1
    end
    rememberEnvironment(ofKey.trail[1], ofKey.trail[2], ofKey.trail[3])
    callEach('ZADD', key, entries)
  end
end
