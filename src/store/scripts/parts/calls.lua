-- Calls of Redis with lists of any length: arguments of one call are bounded by Lua's stack. Returns the sum of what the calls
-- return, which are numbers.
local chunk = 1000
local function callEach(command, key, list)
  local sum = 0
  for from = 1, #list, chunk do
    sum = sum + redis.call(command, key, unpack(list, from, math.min(#list, from + chunk - 1)))
  end
  return sum
end

-- A key of an environment in one partition, as `store/keys.ts` names it. Scripts get what it is made of, because most of the
-- keys that a claim or an entry of the change log may need are not needed, and each would cost its bytes.
local function keyIn(tag, kind, tenant, environment)
  return tag .. ':' .. kind .. ':' .. tenant .. ':' .. environment
end
