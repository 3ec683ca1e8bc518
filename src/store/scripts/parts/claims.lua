-- Moves claims and keeps the list of served routes right, for scripts that begin with this.
-- Routes and clashes are derived from the claims at every call, so dropping a claim that is not there repairs them.
--
-- Claims come as a list of runs, each done before the next one: {'put' | 'drop', claims key, routes key, clashes key,
-- fields, digests (8 bytes each; none where nobody asks whose service changed), displays, packed lists of the one claim}
-- A claim is {host or false, 0 page | 1 redirect, sinceStamp in digits, sourceId, alias, originId, display, redirect or false}

local function sameClaim(a, b)
  return a[1] == b[1] and a[2] == b[2] and a[4] == b[4] and a[5] == b[5] and a[6] == b[6]
end

-- A page before a redirect, the latest claim before older ones; ids decide the rest so that no layout does.
local function precedes(a, b)
  if a[2] ~= b[2] then return a[2] < b[2] end
  if a[3] ~= b[3] then return tonumber(a[3]) > tonumber(b[3]) end
  if a[5] ~= b[5] then return a[5] < b[5] end
  if a[4] ~= b[4] then return a[4] < b[4] end
  if a[6] ~= b[6] then return a[6] < b[6] end
  return (a[1] or '') < (b[1] or '')
end

-- The URLs that are served: the first claim of each host, but no redirect where a page answers on every host.
local function winners(claims)
  local hosts, urls, pageEverywhere = {}, {}, false
  for _, claim in ipairs(claims) do
    local host, isPage = claim[1] or '', claim[2] == 0
    if not hosts[host] and (isPage or not pageEverywhere) then
      hosts[host] = true
      urls[claim[7]] = true
      if isPage and host == '' then pageEverywhere = true end
    end
  end
  return urls
end

-- What requests can see of the claims: an earlier release wrote one thing more.
local function visible(claims)
  local seen = {}
  for i, c in ipairs(claims) do
    seen[i] = { c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8] }
  end
  return cmsgpack.pack(seen)
end

-- Arguments of one call are bounded by Lua's stack.
local chunk = 1000
local function callEach(command, key, list)
  for from = 1, #list, chunk do
    redis.call(command, key, unpack(list, from, math.min(#list, from + chunk - 1)))
  end
end

local urlMark = string.byte('u')

-- What one run makes of its keys: read at once, changed here, written at once.
local function changeRun(digests, action, claimsKey, routesKey, clashesKey, fields, fieldDigests, displays, claims)
  local stored = {}
  for from = 1, #fields, chunk do
    local found = redis.call('HMGET', claimsKey, unpack(fields, from, math.min(#fields, from + chunk - 1)))
    for index = 1, #found do stored[fields[from + index - 1]] = found[index] end
  end
  local puts, drops, clashes, clears, routes, gone = {}, {}, {}, {}, {}, {}
  -- Of fields with other claims, what they hold in the end and how many; by URL: whether it is served.
  local changed, counts, served = {}, {}, {}
  for at = 1, #fields do
    local field, digest, display = fields[at], fieldDigests[at], displays[at]
    local isUrl = string.byte(field) == urlMark
    if not stored[field] and action == 'put' then
      -- The first claim of a field, as nearly all are: there is nothing to compare with.
      stored[field] = claims[at]
      puts[#puts + 1], puts[#puts + 2] = field, claims[at]
      if isUrl then routes[#routes + 1], routes[#routes + 2] = 0, display end
      digests[#digests + 1] = digest
    else
      local claim = cmsgpack.unpack(claims[at])[1]
      local old = stored[field] and cmsgpack.unpack(stored[field]) or {}
      local new = {}
      for _, other in ipairs(old) do
        if not sameClaim(other, claim) then new[#new + 1] = other end
      end
      if action == 'put' then new[#new + 1] = claim end
      table.sort(new, precedes)
      stored[field] = #new > 0 and cmsgpack.pack(new)
      changed[field] = stored[field]
      counts[field] = #new
      if isUrl then
        served[display] = false
        for url in pairs(winners(old)) do served[url] = false end
        for url in pairs(winners(new)) do served[url] = true end
      end
      if visible(old) ~= visible(new) then digests[#digests + 1] = digest end
    end
  end
  -- First claims stand in the lists already; what became of them later in the run comes behind.
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
      routes[#routes + 1], routes[#routes + 2] = 0, url
    else
      gone[#gone + 1] = url
    end
  end
  callEach('HSET', claimsKey, puts)
  callEach('HDEL', claimsKey, drops)
  callEach('HSET', clashesKey, clashes)
  callEach('HDEL', clashesKey, clears)
  callEach('ZADD', routesKey, routes)
  callEach('ZREM', routesKey, gone)
end

-- Returns the digests of the fields whose service changed.
local function moveClaims(runs)
  local digests = {}
  for _, run in ipairs(runs) do changeRun(digests, unpack(run)) end
  return digests
end
