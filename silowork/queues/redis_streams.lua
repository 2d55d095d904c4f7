-- Queues in Redis: every change of them is one call of this script.
--
-- KEYS: the prefix. Keys are made from it, so a cluster of Redis is not supported.
-- ARGV: what is to be done, the queue, and what the function of that name takes.
--
-- A queue has: :stream, whose group has the leases (the idle time of an entry) and the
-- deliveries; :later, numbers by the moment from which they may be taken, with their content in
-- :later-content; :dead, a stream of dead letters; :keys, of messages put, with the moment at which
-- they were done, or 0. An entry has the fields key, body, tries (before it came into the stream)
-- and reason.

local GROUP = 'workers'
local prefix, queue = KEYS[1], ARGV[2]
local clock = redis.call('TIME')
local now = tonumber(clock[1]) + tonumber(clock[2]) / 1e6
local actions = {}

local function named(name, part)
  return prefix .. (name == '' and '' or ':' .. name) .. ':' .. part
end

local stream, later, content = named(queue, 'stream'), named(queue, 'later'), named(queue, 'later-content')
local dead, keys = named(queue, 'dead'), named(queue, 'keys')

local function add(to, key, body, tries, reason)
  redis.call('XADD', to, '*', 'key', key, 'body', body, 'tries', tries, 'reason', reason)
end

local function add_later(name, key, body, tries, reason, wait)
  local number = string.format('%016d', redis.call('INCR', prefix .. ':number'))
  redis.call('ZADD', named(name, 'later'), now + wait, number)
  redis.call('HSET', named(name, 'later-content'), number, cmsgpack.pack({key, body, tries, reason}))
end

local function put(name, key, body, wait, reason)
  redis.call('SADD', prefix .. ':queues', name)
  if key ~= '' and redis.call('ZADD', named(name, 'keys'), 'NX', 0, key) == 0 then
    return 0
  end
  if reason ~= '' then
    add(named(name, 'dead'), key, body, 0, reason)
  elseif wait == 0 then
    redis.call('XADD', named(name, 'stream'), '*', 'key', key, 'body', body)
  else
    add_later(name, key, body, 0, '', wait)
  end
  return 1
end

-- Puts the messages that are in ARGV from a place on, five values each; returns how many were new.
local function put_all(first)
  local new = 0
  for at = first, #ARGV, 5 do
    new = new + put(ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3]), ARGV[at + 4])
  end
  return new
end

local function fields_of(entry)
  local found = {}
  for at = 1, #entry[2], 2 do
    found[entry[2][at]] = entry[2][at + 1]
  end
  return found
end

-- Returns an entry of the stream by its number; nil if it is not there.
local function entry_of(number)
  return redis.call('XRANGE', stream, number, number)[1]
end

-- Returns who holds an entry, for how long (ms), and how often it was taken; nothing if nobody does.
local function pending(number)
  local found = redis.call('XPENDING', stream, GROUP, number, number, 1)[1]
  if found then
    return found[2], tonumber(found[3]), tonumber(found[4])
  end
end

-- Returns the number of the last entry that was taken first; nil if nobody ever took one.
local function last_taken()
  for _, group in ipairs(redis.call('EXISTS', stream) == 1 and redis.call('XINFO', 'GROUPS', stream) or {}) do
    if group[2] == GROUP then
      return group[8]
    end
  end
end

local function is_mine(number, lease)
  if not last_taken() then
    return false
  end
  local taker, _, times = pending(number)
  return taker ~= nil and taker .. ':' .. times == lease
end

local function remove(number)
  redis.call('XACK', stream, GROUP, number)
  return redis.call('XDEL', stream, number)
end

-- name and value of a mark, or twice nothing, then messages -> how many were new
function actions.put()
  if ARGV[3] ~= '' then
    redis.call('HSET', prefix .. ':marks', ARGV[3], ARGV[4])
  end
  return put_all(5)
end

local function move_due(most)
  for _, number in ipairs(redis.call('ZRANGEBYSCORE', later, '-inf', now, 'LIMIT', 0, most)) do
    add(stream, unpack(cmsgpack.unpack(redis.call('HGET', content, number))))
    redis.call('ZREM', later, number)
    redis.call('HDEL', content, number)
  end
end

-- Takes over entries whose leases are over. Each call of XAUTOCLAIM passes over some entries only.
local function claim(taker, most, lease)
  local cursor, claimed = '0-0', {}
  if redis.call('XPENDING', stream, GROUP)[1] > 0 then
    repeat
      local found = redis.call('XAUTOCLAIM', stream, GROUP, taker, lease, cursor, 'COUNT', most)
      cursor, claimed = found[1], found[2]
    until #claimed > 0 or cursor == '0-0'
  end
  return claimed
end

-- taker, most, lease in ms, most tries -> how many were found, and those that may be taken, each
-- with how often it was taken from the stream, and its taker
function actions.take()
  local taker, most, most_tries, taken = ARGV[3], ARGV[4], tonumber(ARGV[6]), {}
  if not last_taken() then
    redis.call('XGROUP', 'CREATE', stream, GROUP, '0', 'MKSTREAM')
  end
  move_due(most)
  local claimed = claim(taker, most, ARGV[5])
  for _, entry in ipairs(claimed) do
    local fields, _, _, times = fields_of(entry), pending(entry[1])
    local before = (tonumber(fields.tries) or 0) + times - 1
    if before >= most_tries then
      local reason = 'it was taken ' .. before .. ' times, and its takers never said how it ended'
      add(dead, fields.key or '', fields.body or '', before, reason)
      remove(entry[1])
    else
      taken[#taken + 1] = {entry[1], entry[2], times, taker}
    end
  end
  if #claimed > 0 then
    return {#claimed, taken}
  end
  local found = redis.call('XREADGROUP', 'GROUP', GROUP, taker, 'COUNT', most, 'STREAMS', stream, '>')
  for _, entry in ipairs(found and found[1][2] or {}) do
    taken[#taken + 1] = {entry[1], entry[2], 1, taker}
  end
  return {#taken, taken}
end

-- lease, number, … -> 1 for each that still is the taker's
function actions.renew()
  local kept = {}
  for at = 3, #ARGV, 2 do
    local number, is_kept = ARGV[at + 1], is_mine(ARGV[at + 1], ARGV[at])
    if is_kept then
      redis.call('XCLAIM', stream, GROUP, pending(number), 0, number, 'JUSTID')
    end
    kept[#kept + 1] = is_kept and 1 or 0
  end
  return kept
end

-- how many, then key, number of each, then messages
function actions.done()
  local last = 3 + 2 * tonumber(ARGV[3])
  for at = 4, last, 2 do
    if remove(ARGV[at + 1]) == 1 and ARGV[at] ~= '' then
      redis.call('ZADD', keys, 'XX', now, ARGV[at])
    end
  end
  put_all(last + 1)
end

-- reason, seconds (negative: never again), most tries, then lease, number of each
function actions.failed()
  local reason, again, most_tries = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
  for at = 6, #ARGV, 2 do
    local lease, number = ARGV[at], ARGV[at + 1]
    local entry = is_mine(number, lease) and entry_of(number)
    if entry then
      local fields, _, _, times = fields_of(entry), pending(number)
      local key, body = fields.key or '', fields.body or ''
      local tries = (tonumber(fields.tries) or 0) + times
      remove(number)
      if again < 0 or tries >= most_tries then
        add(dead, key, body, tries, reason)
      elseif again == 0 then
        add(stream, key, body, tries, reason)
      else
        add_later(queue, key, body, tries, reason, again)
      end
    end
  end
end

-- seconds, then lease, number, …: the next taker claims them, as if for the first time
function actions.give_back()
  local wait = tonumber(ARGV[3])
  for at = 4, #ARGV, 2 do
    local number = ARGV[at + 1]
    local entry = is_mine(number, ARGV[at]) and entry_of(number)
    if entry and wait > 0 then
      local fields, _, _, times = fields_of(entry), pending(number)
      local tries = (tonumber(fields.tries) or 0) + times - 1
      remove(number)
      add_later(queue, fields.key or '', fields.body or '', tries, fields.reason or '', wait)
    elseif entry then
      local taker, _, times = pending(number)
      redis.call(
        'XCLAIM', stream, GROUP, taker, 0, number, 'IDLE', 2 ^ 40, 'RETRYCOUNT', times - 1, 'JUSTID')
    end
  end
end

-- key, … -> 1 for each whose message is done
function actions.done_keys()
  local found = {}
  for at = 3, #ARGV do
    local moment = redis.call('ZSCORE', keys, ARGV[at])
    found[#found + 1] = moment and tonumber(moment) > 0 and 1 or 0
  end
  return found
end

-- number, … -> 1 for each that is there
function actions.held()
  local found = {}
  for at = 3, #ARGV do
    found[#found + 1] = entry_of(ARGV[at]) and 1 or 0
  end
  return found
end

-- Looks at entries of the stream that are taken, or that are not.
local function peek_stream(is_taken, most, after, lease)
  local found, from, joined = {}, after == '' and '-' or '(' .. after, last_taken()
  repeat
    local entries = redis.call('XRANGE', stream, from, '+', 'COUNT', 100)
    for _, entry in ipairs(entries) do
      local _, idle, times
      if joined then
        _, idle, times = pending(entry[1])
      end
      if (idle ~= nil and idle < lease) == is_taken and #found < most then
        found[#found + 1] = {entry[1], entry[2], times or 0, ''}
      end
      from = '(' .. entry[1]
    end
  until #entries == 0 or #found == most
  return found
end

-- state, most, after, lease in ms -> entries; those that are due by now go into the stream first
function actions.peek()
  local state, most, after, lease = ARGV[3], tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
  local found = {}
  move_due(most)
  if state == 'dead' then
    local from = after == '' and '-' or '(' .. after
    for _, entry in ipairs(redis.call('XRANGE', dead, from, '+', 'COUNT', most)) do
      found[#found + 1] = {entry[1], entry[2], 0, ''}
    end
  elseif state == 'later' then
    local rank = after ~= '' and redis.call('ZRANK', later, after)
    local first = rank and rank + 1 or 0
    for _, number in ipairs(redis.call('ZRANGE', later, first, first + most - 1)) do
      local key, body, tries, reason = unpack(cmsgpack.unpack(redis.call('HGET', content, number)))
      local fields = {'key', key, 'body', body, 'tries', tostring(tries), 'reason', reason}
      found[#found + 1] = {number, fields, 0, '', redis.call('ZSCORE', later, number)}
    end
  else
    return peek_stream(state == 'taken', most, after, lease)
  end
  return found
end

-- lease in ms -> how many are waiting, later, taken, dead and done, and the age of the oldest in ms
function actions.size()
  local last, taken, over = last_taken(), 0, {}
  if last then
    local held = redis.call('XPENDING', stream, GROUP)[1]
    if held > 0 then
      over = redis.call('XPENDING', stream, GROUP, 'IDLE', ARGV[3], '-', '+', held)
      taken = held - #over
    end
  end
  local first = redis.call('XRANGE', stream, last and '(' .. last or '-', '+', 'COUNT', 1)
  first[#first + 1] = over[1]
  local oldest = now * 1000
  for _, one in ipairs(first) do
    oldest = math.min(oldest, tonumber(string.match(one[1], '%d+')))
  end
  local undue = redis.call('ZCOUNT', later, '(' .. now, '+inf')
  local waiting = redis.call('XLEN', stream) - taken + redis.call('ZCARD', later) - undue
  local done = redis.call('ZCOUNT', keys, '(0', '+inf')
  return {waiting, undue, taken, redis.call('XLEN', dead), done, math.floor(now * 1000 - oldest)}
end

-- number, … of dead letters -> how many there were
function actions.revive()
  local revived = 0
  for at = 3, #ARGV do
    local entry = redis.call('XRANGE', dead, ARGV[at], ARGV[at])[1]
    if entry then
      local fields = fields_of(entry)
      add(stream, fields.key, fields.body, 0, fields.reason)
      revived = revived + redis.call('XDEL', dead, ARGV[at])
    end
  end
  return revived
end

-- moment -> how many keys were forgotten
function actions.forget()
  return redis.call('ZREMRANGEBYSCORE', keys, '(0', '(' .. ARGV[3])
end

return actions[ARGV[1]]()
