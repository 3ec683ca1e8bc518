-- Reads the heads of entity records.
--
-- A record is contentHash (16 bytes), token (8), stamps, type, url, body. Its head is everything before the body.
-- The stamps are their number (1 byte), then stamp, bornStamp and urlStamp as big-endian doubles; stamps at the end that equal
-- the one before them are left out. Type and url are each prefixed with their length in bytes (2 bytes, big-endian); a url, if
-- any, begins with `=`.

local stampsAt = 25

local function stampsOf(record)
  local count = string.byte(record, stampsAt)
  local stamp = struct.unpack('>d', record, stampsAt + 1)
  local bornStamp = count > 1 and struct.unpack('>d', record, stampsAt + 9) or stamp
  local urlStamp = count > 2 and struct.unpack('>d', record, stampsAt + 17) or bornStamp
  return stamp, bornStamp, urlStamp
end

local function packedStamps(stamp, bornStamp, urlStamp)
  if urlStamp ~= bornStamp then return '\3' .. struct.pack('>ddd', stamp, bornStamp, urlStamp) end
  if bornStamp ~= stamp then return '\2' .. struct.pack('>dd', stamp, bornStamp) end
  return '\1' .. struct.pack('>d', stamp)
end

local function typeStart(record)
  return stampsAt + 1 + 8 * string.byte(record, stampsAt)
end

-- The end of a text that is prefixed with its length.
local function textEnd(record, start)
  local high, low = string.byte(record, start, start + 1)
  return start + 1 + 256 * high + low
end

local function headEnd(record)
  return textEnd(record, textEnd(record, typeStart(record)) + 1)
end

local function typeOf(record)
  local start = typeStart(record)
  return string.sub(record, start, textEnd(record, start))
end

local function urlOf(record)
  local start = textEnd(record, typeStart(record)) + 1
  return string.sub(record, start, textEnd(record, start))
end

-- Records per read. Only their heads are kept, because a body may have megabytes.
local recordsAtOnce = 16

-- Calls `act` with the index of each existing entity and the head of its record.
local function eachHead(key, originIds, act)
  for from = 1, #originIds, recordsAtOnce do
    local found = redis.call('HMGET', key, unpack(originIds, from, math.min(#originIds, from + recordsAtOnce - 1)))
    for at = 1, #found do
      local record = found[at]
      if record then act(from + at - 1, string.sub(record, 1, headEnd(record))) end
    end
  end
end
