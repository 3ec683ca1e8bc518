-- Reads what entity records begin with, for scripts that begin with this.
--
-- A record is contentHash (16 bytes), token (8), stamps, type, url, body. Its head is all but the body.
-- The stamps are stamp, bornStamp and urlStamp, after their number (1 byte), as big-endian doubles; of the last two, those that
-- equal the one before them are left out at the end. Type and url are after their bytes (2, big-endian); a url that is there
-- begins with `=`.

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

-- Where a text ends that begins with its bytes.
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
