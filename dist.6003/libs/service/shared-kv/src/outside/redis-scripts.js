/**
 * KEYS: the hash of an owner and its fence. Fields of the hash: VERSION and one of `h` (head), `r`
 * (revision), `t` (milliseconds since 1970 of its last use), `bBLOCK` (a block); and `s`, when
 * versions out of use were last looked for. All of an owner is one key: eviction and expiry take
 * all of it, and an erasure leaves nothing, whatever was evicted before.
 */ /** ARGV[1] is the offset of the newest erasure that the caller has applied. */ const FENCED = `
local fence = redis.call('GET', KEYS[2])
if fence and tonumber(fence) > tonumber(ARGV[1]) then return 'erased' end
`;
/** The owner lives on for \`ttl\`; its versions that nobody used for so long go. */ const KEEP = `
local function keep(version, ttl)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('HSET', KEYS[1], version .. 't', string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ttl)
  if now - tonumber(redis.call('HGET', KEYS[1], 's') or '0') < ttl then return end
  redis.call('HSET', KEYS[1], 's', string.format('%.0f', now))
  local used = {}
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if #field > 32 then
      local of = string.sub(field, 1, 32)
      used[of] = used[of] or tonumber(redis.call('HGET', KEYS[1], of .. 't') or '0')
      if now - used[of] >= ttl then redis.call('HDEL', KEYS[1], field) end
    end
  end
end
`;
/** ARGV: erasedUntil, version, ttl, block, bytes. Gives 'kept' or 'erased'. */ export const WRITE_SCRIPT = `
${FENCED}${KEEP}
redis.call('HSET', KEYS[1], ARGV[2] .. 'b' .. ARGV[4], ARGV[5])
keep(ARGV[2], tonumber(ARGV[3]))
return 'kept'
`;
/**
 * ARGV: erasedUntil, version, ttl, head, replaces, blocks to remove. Gives 'erased', 'changed' or
 * the new revision. The first revision is the server's clock, so that it is none of a chain that
 * was evicted. The head that is there already is kept: the call was made twice.
 */ export const PUBLISH_SCRIPT = `
${FENCED}${KEEP}
local version = ARGV[2]
local there = redis.call('HMGET', KEYS[1], version .. 'h', version .. 'r')
local revision = there[1] and there[2] or ''
if there[1] ~= ARGV[4] or revision == '' then
  if revision ~= ARGV[5] then return 'changed' end
  if revision == '' then
    local time = redis.call('TIME')
    revision = string.format('%.0f', time[1] * 1000000 + time[2])
  else
    revision = string.format('%.0f', tonumber(revision) + 1)
  end
  redis.call('HSET', KEYS[1], version .. 'h', ARGV[4], version .. 'r', revision)
end
for index = 6, #ARGV do redis.call('HDEL', KEYS[1], version .. 'b' .. ARGV[index]) end
keep(version, tonumber(ARGV[3]))
return revision
`;
/** ARGV: the erasure's offset, the fence's time to live. A full server frees before it writes. */ export const ERASE_SCRIPT = `
redis.call('UNLINK', KEYS[1])
local at = tonumber(ARGV[1])
local fence = redis.call('GET', KEYS[2])
if fence then at = math.max(at, tonumber(fence)) end
redis.call('SET', KEYS[2], string.format('%.0f', at), 'PX', ARGV[2])
return 'kept'
`;
/** ARGV: version, ttl. Keeps an owner that is read. */ export const USE_SCRIPT = `
${KEEP}
if redis.call('HEXISTS', KEYS[1], ARGV[1] .. 't') == 1 then keep(ARGV[1], tonumber(ARGV[2])) end
return 'kept'
`;

//# sourceMappingURL=redis-scripts.js.map