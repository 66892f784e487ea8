/**
 * Operations that have to happen at once in Redis, as scripts. KEYS of a user, all in one cluster
 * slot: the record (hash: known, profile, erasedUntilMs, arrival), the events (hash: event ID ->
 * payload), then per window of the retention one sorted set of members by time, then per window one
 * of the event IDs that were cut: those of the time of the first that is kept which arrived before
 * it. A member is the byte 255, the arrival in 16 digits and the event ID, so that those of one
 * time lie in the order of arrival. Members of a release before are the event ID alone, and lie
 * before them.
 */

/** Reads a member: its event ID and its arrival. */
const READ_MEMBER = `
local function readMember(member)
  if string.byte(member) ~= 255 then return member, '0' end
  return string.sub(member, 18), string.sub(member, 2, 17)
end`;

/**
 * ARGV: number of windows n, n counts at most, n oldest times, now, the latest time that events may
 * have, the least arrival, then id, window (from 1), time and payload of each event. Returns an
 * index into APPEND_OUTCOMES per event. A user erased by a clock that was ahead is refused up
 * to now alone, and behaviours that it dated count as of now.
 */
export const APPEND_SCRIPT = `${READ_MEMBER}
local record, events = KEYS[1], KEYS[2]
local windows = tonumber(ARGV[1])
local erased = tonumber(redis.call('HGET', record, 'erasedUntilMs') or '-1')
local now, latest = ARGV[2 + 2 * windows], tonumber(ARGV[3 + 2 * windows])
if erased > latest then
  erased = tonumber(now)
  redis.call('HSET', record, 'erasedUntilMs', now)
end
for window = 1, windows do
  local key = KEYS[2 + window]
  local ahead = redis.call('ZRANGEBYSCORE', key, '(' .. ARGV[3 + 2 * windows], '+inf')
  for i = 1, #ahead do redis.call('ZADD', key, now, ahead[i]) end
end
local outcomes, fresh = {}, {}
local arrival = tonumber(redis.call('HGET', record, 'arrival') or '0') + 1
arrival = math.max(arrival, tonumber(ARGV[4 + 2 * windows]))
for at = 5 + 2 * windows, #ARGV, 4 do
  local id, window, time = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local index = #outcomes + 1
  if time <= erased or time < tonumber(ARGV[1 + windows + window]) then
    outcomes[index] = 2
  elseif redis.call('HSETNX', events, id, ARGV[at + 3]) == 0 then
    outcomes[index] = 1
  else
    local member = string.char(255) .. string.format('%016.0f', arrival) .. id
    arrival = arrival + 1
    redis.call('ZADD', KEYS[2 + window], ARGV[at + 2], member)
    outcomes[index] = 0
    fresh[index] = { KEYS[2 + window], member }
  end
end
if next(fresh) then redis.call('HSET', record, 'arrival', string.format('%.0f', arrival - 1)) end
for window = 1, windows do
  local key, cut = KEYS[2 + window], KEYS[2 + windows + window]
  local oldest = ARGV[1 + windows + window]
  local gone = redis.call('ZRANGEBYSCORE', key, '-inf', '(' .. oldest, 'WITHSCORES')
  local first = oldest
  local excess = redis.call('ZCARD', key) - tonumber(ARGV[1 + window])
  if excess > #gone / 2 then
    gone = redis.call('ZRANGE', key, 0, excess - 1, 'WITHSCORES')
    first = redis.call('ZRANGE', key, excess, excess, 'WITHSCORES')[2]
  end
  if #gone > 0 then
    local cuts = redis.call('ZRANGEBYSCORE', cut, '-inf', '(' .. first)
    for i = 1, #cuts do redis.call('HDEL', events, cuts[i]) end
    redis.call('ZREMRANGEBYSCORE', cut, '-inf', '(' .. first)
  end
  for i = 1, #gone, 2 do
    local id = readMember(gone[i])
    redis.call('ZREM', key, gone[i])
    if gone[i + 1] == first then
      redis.call('ZADD', cut, first, id)
      redis.call('HSET', events, id, '')
    else
      redis.call('HDEL', events, id)
    end
  end
end
local kept = false
for index, at in pairs(fresh) do
  if redis.call('ZSCORE', at[1], at[2]) then kept = true else outcomes[index] = 2 end
end
if kept then redis.call('HSET', record, 'known', '1') end
return outcomes`;

/**
 * ARGV: how many of each window at most, then the oldest time of each window. Returns nil for a
 * user who is not known, else event ID, time, arrival and payload of each behaviour, window by
 * window. KEYS ends with the windows.
 */
export const HISTORY_SCRIPT = `${READ_MEMBER}
if redis.call('HEXISTS', KEYS[1], 'known') == 0 then return nil end
local found = {}
for window = 1, #KEYS - 2 do
  local ids = redis.call('ZREVRANGEBYSCORE', KEYS[2 + window], '+inf', ARGV[1 + window],
    'WITHSCORES', 'LIMIT', 0, ARGV[1])
  for i = 1, #ids, 2 do
    local id, arrival = readMember(ids[i])
    found[#found + 1] = id
    found[#found + 1] = ids[i + 1]
    found[#found + 1] = arrival
    found[#found + 1] = redis.call('HGET', KEYS[2], id)
  end
end
return found`;

/**
 * ARGV: the time up to which events are refused from now on, now, the latest time that events may
 * have, the oldest that is kept of each window (what is older counts as gone, trimmed or not), and
 * the log and the offset of the entry that erases, '' and 0 for none: every node applies it, the
 * first does it. Returns 1 where something was known.
 */
export const ERASE_SCRIPT = `
local log, offset = ARGV[#ARGV - 1], tonumber(ARGV[#ARGV])
if log ~= '' then
  local by = redis.call('HMGET', KEYS[1], 'erasedLog', 'erasedOffset', 'erasedKnown')
  if by[1] == log and tonumber(by[2]) >= offset then return tonumber(by[3]) end
end
local known = redis.call('HEXISTS', KEYS[1], 'known')
local erased = math.max(tonumber(ARGV[1]),
  tonumber(redis.call('HGET', KEYS[1], 'erasedUntilMs') or '-1'))
for window = 1, (#KEYS - 2) / 2 do
  local newest = redis.call('ZREVRANGEBYSCORE', KEYS[2 + window], '+inf', ARGV[3 + window],
    'WITHSCORES', 'LIMIT', 0, 1)
  if newest[2] then erased = math.max(erased, tonumber(newest[2])) end
end
if erased > tonumber(ARGV[3]) then erased = tonumber(ARGV[2]) end
redis.call('DEL', unpack(KEYS))
redis.call('HSET', KEYS[1], 'erasedUntilMs', string.format('%.0f', erased))
if log ~= '' then
  redis.call('HSET', KEYS[1], 'erasedLog', log, 'erasedOffset', ARGV[#ARGV], 'erasedKnown', known)
end
return known`;
