#!lua flags=no-writes
-- Scans the field names of a hash in portions, without the values, which may be large. A cursor is only valid on the server
-- process that returned it; on another one the scan starts again.
--
-- KEYS  1 hash
-- ARGV  1 cursor   2 process that returned it   3 approximate number of names
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
