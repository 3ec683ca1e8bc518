#!lua flags=no-writes
-- Names of fields of a hash, a portion of a scan, without their values, which may be large. A cursor means something only to
-- the server process that gave it: with another one's the scan begins again.
--
-- KEYS  1 hash
-- ARGV  1 cursor   2 process that gave it   3 how many names, about
-- Returns  {this process, next cursor, names}
local fieldsAtOnce, bytesMax = 16, 1048576
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local cursor = ARGV[2] == server and ARGV[1] or '0'
local names, bytes = {}, 0
while true do
  local reply = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', fieldsAtOnce)
  cursor = reply[1]
  for at = 1, #reply[2], 2 do
    names[#names + 1] = reply[2][at]
    bytes = bytes + #reply[2][at + 1]
  end
  if cursor == '0' or #names >= tonumber(ARGV[3]) or bytes >= bytesMax then return { server, cursor, names } end
end
