#!lua flags=no-writes
-- Reads claims of contested fields by rank (`parts/claims.lua`).
--
-- KEYS  1 claims   2 ranks
-- ARGV  1 packed list of requests, each {prefix of a claim field's ranks, lower limit (inclusive) and upper limit (exclusive)
--       after the prefix, maximum number of claims, 1 to return only the first of each host}
-- Returns  per request a list: rank with its section, packed claim, rank …; '' for a missing claim
local function firstOfHosts(begin, from, to, most)
  local members = {}
  while #members < most do
    local member = redis.call('ZRANGEBYLEX', KEYS[2], '[' .. from, '(' .. to, 'LIMIT', 0, 1)[1]
    if not member then return members end
    members[#members + 1] = member
    local ending = string.find(member, '\0', #begin + 1, true)
    from = string.sub(member, 1, ending - 1) .. '\1'
  end
  return members
end

local replies = {}
for at, asked in ipairs(cmsgpack.unpack(ARGV[1])) do
  local begin, from, to, most, isPerHost = unpack(asked)
  from, to = begin .. from, begin .. to
  local members = isPerHost == 1 and firstOfHosts(begin, from, to, most)
    or redis.call('ZRANGEBYLEX', KEYS[2], '[' .. from, '(' .. to, 'LIMIT', 0, most)
  local reply = {}
  for _, member in ipairs(members) do
    local section = string.sub(member, #begin + 1)
    local rank = string.sub(section, 2)
    if string.byte(section) == 104 then rank = string.sub(section, string.find(section, '\0', 1, true) + 1) end
    local field = 'r:' .. begin .. string.sub(rank, 1, 1) .. string.sub(rank, 18)
    reply[#reply + 1] = section
    reply[#reply + 1] = redis.call('HGET', KEYS[1], field) or ''
  end
  replies[at] = reply
end
return replies
