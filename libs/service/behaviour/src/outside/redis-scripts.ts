/**
 * Operations that have to happen at once in Redis, as scripts. KEYS of a user, all in one cluster
 * slot: the record (hash: known, profile, erasedUntilMs), the events (hash: event ID -> payload),
 * then one sorted set of event IDs by time per window of the retention.
 */

/**
 * ARGV: number of windows n, n counts at most, n oldest times, now, the latest time that events may
 * have, then id, window (from 1), time and payload of each event. Returns an index into
 * APPEND_OUTCOMES per event. Who was erased by a clock that was ahead is refused up to now alone.
 */
export const APPEND_SCRIPT = `
local record, events = KEYS[1], KEYS[2]
local windows = tonumber(ARGV[1])
local erased = tonumber(redis.call('HGET', record, 'erasedUntilMs') or '-1')
local now, latest = ARGV[2 + 2 * windows], tonumber(ARGV[3 + 2 * windows])
if erased > latest then
  erased = tonumber(now)
  redis.call('HSET', record, 'erasedUntilMs', now)
end
local outcomes, fresh = {}, {}
for at = 4 + 2 * windows, #ARGV, 4 do
  local id, window, time = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local index = #outcomes + 1
  if time <= erased or time < tonumber(ARGV[1 + windows + window]) then
    outcomes[index] = 2
  elseif redis.call('HSETNX', events, id, ARGV[at + 3]) == 0 then
    outcomes[index] = 1
  else
    redis.call('ZADD', KEYS[2 + window], ARGV[at + 2], id)
    outcomes[index] = 0
    fresh[index] = id
  end
end
local function drop(key, ids)
  for i = 1, #ids do
    redis.call('ZREM', key, ids[i])
    redis.call('HDEL', events, ids[i])
  end
end
for window = 1, windows do
  local key = KEYS[2 + window]
  drop(key, redis.call('ZRANGEBYSCORE', key, '-inf', '(' .. ARGV[1 + windows + window]))
  local excess = redis.call('ZCARD', key) - tonumber(ARGV[1 + window])
  if excess > 0 then drop(key, redis.call('ZRANGE', key, 0, excess - 1)) end
end
local kept = false
for index, id in pairs(fresh) do
  if redis.call('HEXISTS', events, id) == 1 then kept = true else outcomes[index] = 2 end
end
if kept then redis.call('HSET', record, 'known', '1') end
return outcomes`;

/**
 * ARGV: how many of each window at most, then the oldest time of each window. Returns nil for a
 * user who is not known, else event ID, time and payload of each behaviour, window by window.
 */
export const HISTORY_SCRIPT = `
if redis.call('HEXISTS', KEYS[1], 'known') == 0 then return nil end
local found = {}
for window = 1, #KEYS - 2 do
  local ids = redis.call('ZREVRANGEBYSCORE', KEYS[2 + window], '+inf', ARGV[1 + window],
    'WITHSCORES', 'LIMIT', 0, ARGV[1])
  for i = 1, #ids, 2 do
    found[#found + 1] = ids[i]
    found[#found + 1] = ids[i + 1]
    found[#found + 1] = redis.call('HGET', KEYS[2], ids[i])
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
for window = 1, #KEYS - 2 do
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
