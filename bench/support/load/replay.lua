-- Replays prepared requests in turn, and prints what came back as one line of JSON.
-- wrk -s replay.lua URL -- FILE [BEFORE]; it begins behind the first BEFORE requests. FILE holds each request as "<bytes>\n<raw HTTP request>".

local requests = {}
local at = 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  while true do
    local length = file:read("*n")
    if not length then break end
    file:read(1)
    requests[#requests + 1] = file:read(length)
  end
  file:close()
  at = tonumber(args[2]) or 0
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"durationUs":%d,"bytes":%d,"failed":%d,"p50Us":%d,"p90Us":%d,"p99Us":%d,"maxUs":%d}\n',
    summary.requests, summary.duration, summary.bytes,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(90), latency:percentile(99), latency.max))
end
