#!lua
-- Puts and drops claims on URLs and handles, and keeps the list of served routes right.
-- Routes and clashes are derived from the claims at every call, so dropping a claim that is not there repairs them.
--
-- KEYS  1 fence   2 clock   3 changes
-- ARGV  1 partition of the caller   2 its epoch   3 changes kept
--       then per claim: 'put' | 'drop', claims key, routes key, clashes key, field, digest (8 bytes), packed claim
--       A claim is {host or false, 0 page | 1 redirect, sinceStamp, sourceId, alias, originId, display, redirect or false, updatedAtMs}
-- Returns  number of claim fields whose service changed; error FENCED
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) > tonumber(ARGV[2]) then
  return redis.error_reply('FENCED partition ' .. ARGV[1] .. ' has a newer owner')
end

local function sameClaim(a, b)
  return a[1] == b[1] and a[2] == b[2] and a[4] == b[4] and a[5] == b[5] and a[6] == b[6]
end

-- A page before a redirect, the latest claim before older ones; ids decide the rest so that no layout does.
local function before(a, b)
  if a[2] ~= b[2] then return a[2] < b[2] end
  if a[3] ~= b[3] then return a[3] > b[3] end
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

-- What requests can see of the claims: everything but the time of the last change.
local function visible(claims)
  local seen = {}
  for i, c in ipairs(claims) do
    seen[i] = { c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8] }
  end
  return cmsgpack.pack(seen)
end

-- Changes the claims of a field; true when requests can see it.
local function change(action, claimsKey, routesKey, clashesKey, field, claim)
  local stored = redis.call('HGET', claimsKey, field)
  local isUrl = string.sub(field, 1, 2) == 'u:'
  if not stored and action == 'put' then
    -- The first claim of a field, as nearly all are: there is nothing to compare with.
    redis.call('HSET', claimsKey, field, cmsgpack.pack({ claim }))
    if isUrl then redis.call('ZADD', routesKey, 0, claim[7]) end
    return true
  end
  local old = stored and cmsgpack.unpack(stored) or {}
  local new = {}
  for _, other in ipairs(old) do
    if not sameClaim(other, claim) then new[#new + 1] = other end
  end
  if action == 'put' then new[#new + 1] = claim end
  table.sort(new, before)

  if #new == 0 then
    redis.call('HDEL', claimsKey, field)
  else
    redis.call('HSET', claimsKey, field, cmsgpack.pack(new))
  end
  if #new > 1 then
    redis.call('HSET', clashesKey, field, #new)
  else
    redis.call('HDEL', clashesKey, field)
  end
  if isUrl then
    local gone, serving = winners(old), winners(new)
    gone[claim[7]] = true
    for url in pairs(gone) do
      if not serving[url] then redis.call('ZREM', routesKey, url) end
    end
    for url in pairs(serving) do
      redis.call('ZADD', routesKey, 0, url)
    end
  end
  return visible(old) ~= visible(new)
end

-- Of a slot that moves some keys may be gone, which ends the script: before the first write, not amid.
local checked = {}
for at = 4, #ARGV, 7 do
  for key = at + 1, at + 3 do
    if not checked[ARGV[key]] then redis.call('EXISTS', ARGV[key]) end
    checked[ARGV[key]] = true
  end
end
local digests = {}
for at = 4, #ARGV, 7 do
  local claim = cmsgpack.unpack(ARGV[at + 6])
  if change(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], claim) then
    digests[#digests + 1] = ARGV[at + 5]
  end
end
if #digests > 0 then
  local sequence = redis.call('HINCRBY', KEYS[2], 'changes', 1)
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[3], sequence .. '-0', 'd', table.concat(digests))
end
return #digests
