-- Reads what entity records begin with, for scripts that begin with this.
--
-- A record is contentHash (16 bytes), token (8), urlHash (8), three stamps (stamp, bornStamp, urlStamp as big-endian doubles),
-- the bytes of the type (2, big-endian), type, body. Its head is all but the body.

-- Bytes before those of the type.
local fixedBytes = 56

local function headEnd(record)
  local high, low = string.byte(record, fixedBytes + 1, fixedBytes + 2)
  return fixedBytes + 2 + 256 * high + low
end

local function typeOf(record)
  return string.sub(record, fixedBytes + 1, headEnd(record))
end

-- A body may have megabytes: so many records are read at a time, and their heads kept.
local recordsAtOnce = 16

-- Calls `act` with the place of each entity that is there, and the head of its record.
local function eachHead(key, originIds, act)
  for from = 1, #originIds, recordsAtOnce do
    local found = redis.call('HMGET', key, unpack(originIds, from, math.min(#originIds, from + recordsAtOnce - 1)))
    for at = 1, #found do
      local record = found[at]
      if record then act(from + at - 1, string.sub(record, 1, headEnd(record))) end
    end
  end
end
