-- Writes entries of the change log (docs/design/changes.md). After `parts/calls.lua`.
--
-- A member of `log` and `traces` is a view: the number of its `<source>:<alias>` in `log-names`, a colon, its originId.
-- `traces` also has the members of `recordHiding` in `parts/service.lua`.

-- As in `store/keys.ts`.
local function clockOf(tag)
  return tag .. ':clock'
end

-- Reserves `count` sequences of the partition, and returns the first: the time in microseconds, or a later one.
local function sequencesFrom(clockKey, count)
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local from = math.max(tonumber(redis.call('HGET', clockKey, 'log') or 0) + 1, now)
  redis.call('HSET', clockKey, 'log', string.format('%016.0f', from + count - 1))
  return from
end

-- The prefix of the members for views of a source and alias.
local function memberStart(namesKey, name)
  local number = redis.call('HGET', namesKey, name)
  if not number then
    number = redis.call('HLEN', namesKey)
    redis.call('HSET', namesKey, name, number)
  end
  return number .. ':'
end

-- Registers the log of an environment when it gets its first entry. The value is its horizon.
local function rememberEnvironment(tag, tenant, environment)
  redis.call('HSETNX', tag .. ':logs', tenant .. '|' .. environment, '0')
end

-- The keys of a partition's log that a commit writes.
local function logKeys(tag, tenant, environment)
  local kinds, found = { 'log', 'traces', 'removed', 'log-names', 'view-counts' }, {}
  for at, kind in ipairs(kinds) do found[at] = keyIn(tag, kind, tenant, environment) end
  return found
end

-- Writes the views that a commit reports. Each group is {tag of the partition, tenant, environment, `<source>:<alias>`,
-- originIds of changed views, of unchanged views, of removed views, the last states of the removed views}.
local function reportViews(clockKey, groups)
  local count = 0
  for _, group in ipairs(groups) do count = count + #group[5] + #group[6] + #group[7] end
  if count == 0 then return end
  local sequence = sequencesFrom(clockKey, count)
  for _, group in ipairs(groups) do
    local tag, tenant, environment, name, changed, there, gone, were = unpack(group)
    local logKey, tracesKey, removedKey, namesKey, countsKey = unpack(logKeys(tag, tenant, environment))
    local start = memberStart(namesKey, name)
    rememberEnvironment(tag, tenant, environment)
    local entries, members = {}, {}
    for at, originId in ipairs(changed) do
      local member = start .. originId
      members[at] = member
      entries[at * 2 - 1], entries[at * 2] = sequence, member
      sequence = sequence + 1
    end
    local added = callEach('ZADD', logKey, entries)
    if redis.call('EXISTS', removedKey) == 1 then
      callEach('HDEL', removedKey, members)
      callEach('ZREM', tracesKey, members)
    end
    for _, originId in ipairs(there) do
      added = added + redis.call('ZADD', logKey, 'NX', sequence, start .. originId)
      sequence = sequence + 1
    end
    for at, originId in ipairs(gone) do
      local member = start .. originId
      -- If the view was never reported, its removal is not reported either.
      if redis.call('ZREM', logKey, member) == 1 then
        added = added - 1
        redis.call('ZADD', tracesKey, sequence, member)
        redis.call('HSET', removedKey, member, were[at])
      end
      sequence = sequence + 1
    end
    if added ~= 0 then redis.call('HINCRBY', countsKey, name, added) end
  end
end
