-- The turns of a host: a hash with the time of the next turn and the end of a pause,
-- in milliseconds of this Redis' clock, and the interval that was decided for the host. Returns
-- the milliseconds to wait. Of a host that this Redis does not know, the last turns may have been
-- given just now: it may have been restarted. If its clock was set back, nobody waits for more
-- than some turns, or the longest pause.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local value = tonumber(ARGV[2])
local key = KEYS[1]
local longest = tonumber(ARGV[4])
local held = math.min(tonumber(redis.call('HGET', key, 'held') or '0'), now + longest)
if ARGV[1] == 'hold' then
  held = math.max(held, now + value)
  redis.call('HSET', key, 'held', held)
  redis.call('PEXPIRE', key, math.max(held - now, 0) + 3600000)
  return 0
end
if ARGV[6] == '1' then
  redis.call('HSET', key, 'interval', value)
else
  value = math.max(value, tonumber(redis.call('HGET', key, 'interval') or '0'))
end
local after = tonumber(redis.call('HGET', key, 'next') or now + value * tonumber(ARGV[3]))
local due = math.max(now, math.min(after, now + value * tonumber(ARGV[5])), held)
redis.call('HSET', key, 'next', due + value)
redis.call('PEXPIRE', key, due - now + value + 3600000)
return due - now
