-- Updates a visitor's profile by one event, and returns the profile after it as JSON.
--
-- The script is atomic. It is also harmless when repeated: until the transaction in Kafka is
-- committed, the profile after each event is kept in KEYS[2], so that an event processed
-- again is answered as the first time.
--
-- KEYS: the profile; the answers of this partition; the last offset of this partition
-- ARGV: user, session, 1 for a page view, page, time in ms, offset, milliseconds to keep

local user, session, is_view, page = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4]
local time, offset, keep = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local event = ARGV[5] .. ' ' .. user

local answer = redis.call('HGET', KEYS[2], ARGV[6])
if answer then
  local first, last = string.find(answer, event .. '\n', 1, true)
  if first == 1 then return string.sub(answer, last + 1) end
end

-- Late events, and events of the same moment that are processed again, change nothing.
local known = tonumber(redis.call('HGET', KEYS[1], 'time') or '')
local mark = tonumber(redis.call('GET', KEYS[3]) or '')
local is_past = known and (time < known or (time == known and mark and offset <= mark))

if not is_past then
  redis.call('HSET', KEYS[1], 'visitor_id', user, 'time', ARGV[5])
  if session ~= '' and redis.call('HGET', KEYS[1], 'visit_id') ~= session then
    redis.call('HDEL', KEYS[1], 'visit_first_page', 'visit_last_page')
    redis.call('HSET', KEYS[1], 'visit_id', session)
  end
  if is_view then
    redis.call('HSETNX', KEYS[1], 'visitor_first_page', page)
    redis.call('HSETNX', KEYS[1], 'visit_first_page', page)
    redis.call('HSET', KEYS[1], 'visitor_last_page', page, 'visit_last_page', page)
  end
end

local fields = redis.call('HGETALL', KEYS[1])
local profile = {}
for at = 1, #fields, 2 do
  if fields[at] ~= 'time' then profile[fields[at]] = fields[at + 1] end
end
local told = cjson.encode(profile)

if not is_past then redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', time + keep)) end
redis.call('HSET', KEYS[2], ARGV[6], event .. '\n' .. told)
redis.call('PEXPIRE', KEYS[2], 86400000)
if not mark or offset > mark then
  redis.call('SET', KEYS[3], ARGV[6], 'PX', ARGV[7])
end
return told
