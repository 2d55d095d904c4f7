-- Moves lines from the list of 2010 into the stream, atomically: a line is always in one of them.
--
-- KEYS: the list, into which lines are pushed with LPUSH; the stream, from which workers take.
-- ARGV: most lines to move; most bytes of an entry; the field of the lines.
-- Returns how many elements were moved.

local kind = redis.call('TYPE', KEYS[1]).ok
local most, entry = tonumber(ARGV[1]), tonumber(ARGV[2])

if kind == 'none' then
  return 0
end

if kind ~= 'list' then
  return redis.error_reply(
    'WRONGTYPE ' .. KEYS[1] .. ' is a ' .. kind .. ', not a list of lines; name another queue')
end

local moved, lines, size = 0, {}, 0
local function add()
  if #lines > 0 then
    redis.call('XADD', KEYS[2], '*', ARGV[3], table.concat(lines, '\n'))
    lines, size = {}, 0
  end
end
while moved < most do
  local line = redis.call('RPOP', KEYS[1])
  if not line then
    break
  end
  moved = moved + 1
  line = string.gsub(line, '[\r\n]+$', '')
  lines[#lines + 1] = line
  size = size + #line
  if size > entry then
    add()
  end
end
add()
return moved
