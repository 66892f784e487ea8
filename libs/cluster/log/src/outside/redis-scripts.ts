/**
 * Operations of a log that have to happen at once in Redis. Every script has the same KEYS, all in
 * one cluster slot: stream, identity, nodes, digests. IDs of the stream are N-0, N the offset.
 */

/**
 * `last`: the offset that was given last; `atMs`: the time of the newest entry that is there. A
 * stream that was trimmed empty still describes itself; the description of another one would hold
 * two whole entries.
 */
const LAST = `
local function idOf(id) return tonumber(string.match(id, '^%d+')) end
local function text(number) return string.format('%.0f', number) end
local last, atMs = 0, 0
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if newest then
  last, atMs = idOf(newest[1]), tonumber(newest[2][2])
elseif redis.call('EXISTS', KEYS[1]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then last = idOf(info[i + 1]) end
  end
end
`;

/** Milliseconds since 1970. */
const NOW = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`;

/** Returns identity, first and end. */
export const BOUNDS_SCRIPT = `${LAST}
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
local first = oldest and idOf(oldest[1]) or last + 1
return {redis.call('GET', KEYS[2]) or '', text(first), text(last)}`;

/** ARGV: the bytes. Returns the offset. */
export const APPEND_SCRIPT = `${LAST}${NOW}
local offset = text(last + 1)
redis.call('XADD', KEYS[1], offset .. '-0', 'at', text(math.max(now, atMs)), 'b', ARGV[1])
return offset`;

/** ARGV: node, process, offset, digest. */
export const SAY_SCRIPT = `${NOW}
local said = {process = ARGV[2], offset = ARGV[3], digest = ARGV[4],
  atMs = string.format('%.0f', now)}
return redis.call('HSET', KEYS[3], ARGV[1], cjson.encode(said))`;

/** Returns the time, then each node and what it said. */
export const POSITIONS_SCRIPT = `${NOW}
local said = redis.call('HGETALL', KEYS[3])
table.insert(said, 1, string.format('%.0f', now))
return said`;

/** ARGV: node, process. */
export const LEAVE_SCRIPT = `
local said = redis.call('HGET', KEYS[3], ARGV[1])
if said and cjson.decode(said).process == ARGV[2] then
  return redis.call('HDEL', KEYS[3], ARGV[1])
end
return 0`;

/**
 * ARGV: offset, digest, how many are kept. Returns the digest of the first who said one. Those of
 * the smallest offsets go, many at once, so that they are seldom sorted.
 */
export const DIGEST_SCRIPT = `
redis.call('HSETNX', KEYS[4], ARGV[1], ARGV[2])
local first = redis.call('HGET', KEYS[4], ARGV[1])
local kept = tonumber(ARGV[3])
if redis.call('HLEN', KEYS[4]) >= kept + math.max(1, math.floor(kept / 16)) then
  local offsets = redis.call('HKEYS', KEYS[4])
  table.sort(offsets, function(a, b) return tonumber(a) > tonumber(b) end)
  for i = kept + 1, #offsets do redis.call('HDEL', KEYS[4], offsets[i]) end
end
return first`;
