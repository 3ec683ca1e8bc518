-- Calls Redis with lists of any length, in chunks, because Lua's stack limits the arguments of a call. Returns the sum of the
-- replies, which are numbers.
local chunk = 1000
local function callEach(command, key, list)
  local sum = 0
  for from = 1, #list, chunk do
    sum = sum + redis.call(command, key, unpack(list, from, math.min(#list, from + chunk - 1)))
  end
  return sum
end

-- A key of an environment in a partition, as in `store/keys.ts`. Scripts receive its components instead, because most keys that
-- a claim or an entry of the change log may need are not used, and each would cost bytes.
local function keyIn(tag, kind, tenant, environment)
  return tag .. ':' .. kind .. ':' .. tenant .. ':' .. environment
end
