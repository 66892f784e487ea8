import { positionOf } from "../../../../ops/contracts/src/index.js";
import { BehaviourLog } from "../domain/behaviour-log.js";
import { FUTURE_MS_MAX } from "../domain/plausible-time.js";
import { byTimeAndArrival, firstArrival, payloadOf, storedBehaviours } from "./event-payload.js";
import { RedisConnection } from "./redis-connection.js";
const APPEND_OUTCOMES = [
    'added',
    'duplicate',
    'outside'
];
/** Events of one script call: a longer one would keep other clients waiting. */ const EVENTS_PER_CALL_MAX = 500;
const SCAN_COUNT = 500;
/** Of a look through all keys, which nobody waits for. */ const SCAN_TIMEOUT_MS = 6000;
/** A brace in the ID would end the hash tag, which puts a user's keys into one slot. */ const tagged = (userId)=>userId.replace(/[%{}]/g, (char)=>encodeURIComponent(char));
/** Behaviours in Redis or a Redis cluster; all keys of a user lie in one slot. */ export class RedisBehaviourLog extends BehaviourLog {
    redis;
    options;
    userCount = null;
    constructor(redis, options){
        super(), this.redis = redis, this.options = options;
    }
    /**
   * Opens also while the address does not answer. Rejects with CONFIG_INVALID for a bad one.
   */ static async open(options) {
        return new RedisBehaviourLog(await RedisConnection.open(options), options);
    }
    get retention() {
        return this.options.retention;
    }
    reach() {
        return this.redis.reach();
    }
    async append(events) {
        const outcomes = new Array(events.length);
        const byUser = new Map();
        events.forEach(({ userId }, index)=>{
            const indices = byUser.get(userId);
            if (indices === undefined) byUser.set(userId, [
                index
            ]);
            else indices.push(index);
        });
        const calls = [
            ...byUser
        ].flatMap(([userId, indices])=>chunks(indices, EVENTS_PER_CALL_MAX).map(async (chunk)=>{
                const args = chunk.flatMap((index)=>this.eventArgs(events[index]));
                const keys = this.keysOf(userId);
                const first = String(firstArrival(this.options.nowMs()));
                const replies = await this.redis.write((redis)=>redis.tesseraAppend(keys.length, ...keys, ...this.windowArgs(), first, ...args));
                replies.forEach((outcome, i)=>{
                    outcomes[chunk[i]] = APPEND_OUTCOMES[outcome];
                });
            }));
        await Promise.all(calls);
        return outcomes;
    }
    async history(userId, limit) {
        const { retention, nowMs } = this.options;
        const keys = this.keysOf(userId).slice(0, 2 + retention.windows.length);
        const oldest = retention.oldestMs(nowMs()).map(String);
        const found = await this.redis.read((redis)=>redis.tesseraHistory(keys.length, ...keys, String(limit), ...oldest));
        if (found === null) return null;
        const behaviours = Array.from({
            length: found.length / 4
        }, (_, i)=>({
                eventId: found[4 * i],
                timeMs: Number(found[4 * i + 1]),
                arrival: Number(found[4 * i + 2]),
                payload: found[4 * i + 3]
            }));
        behaviours.sort(byTimeAndArrival);
        return storedBehaviours(limit > 0 ? behaviours.slice(-limit) : []);
    }
    async profile(userId) {
        const record = this.recordKey(userId);
        const [known, profile] = await this.redis.read((redis)=>redis.hmget(record, 'known', 'profile'));
        if (known === null) return null;
        return JSON.parse(profile ?? '{}');
    }
    async putProfile(userId, profile) {
        const fields = {
            known: '1',
            profile: JSON.stringify(profile)
        };
        await this.redis.write((redis)=>redis.hset(this.recordKey(userId), fields));
    }
    async erase(userId, untilMs, mark = '') {
        const { log = '', offset = 0 } = positionOf(mark) ?? {};
        const keys = this.keysOf(userId);
        const { retention, nowMs } = this.options;
        const oldest = retention.oldestMs(nowMs()).map(String);
        const known = await this.redis.write((redis)=>redis.tesseraErase(keys.length, ...keys, ...[
                String(untilMs),
                ...this.clockArgs(),
                ...oldest,
                log,
                String(offset)
            ]));
        return known === 1;
    }
    async userIds(limit, prefix = '') {
        const found = [];
        const begin = tagged(prefix).replace(/[*?[\]\\]/g, '\\$&');
        const match = `${this.options.keyPrefix}{${begin}*}:r`;
        const scan = (command)=>this.redis.read(command, SCAN_TIMEOUT_MS);
        await this.redis.eachServer(async (node)=>{
            let cursor = '0';
            do {
                const [next, keys] = await scan(()=>node.scan(cursor, 'MATCH', match, 'COUNT', SCAN_COUNT));
                const known = await Promise.all(keys.map((key)=>scan(()=>node.hexists(key, 'known'))));
                found.push(...keys.filter((_, i)=>known[i] === 1).map((key)=>this.userOf(key)));
                cursor = next;
            }while (cursor !== '0' && found.length < limit)
        }, SCAN_TIMEOUT_MS);
        return found.sort().slice(0, limit);
    }
    async close() {
        this.redis.close();
    }
    eventArgs(event) {
        const window = this.options.retention.windowOf(event.action) + 1;
        return [
            event.eventId,
            String(window),
            String(event.timeMs),
            payloadOf(event)
        ];
    }
    windowArgs() {
        const { retention, nowMs } = this.options;
        const { windows } = retention;
        const oldest = retention.oldestMs(nowMs());
        const counts = windows.map((window)=>window.behavioursMax);
        return [
            ...[
                windows.length,
                ...counts,
                ...oldest
            ].map(String),
            ...this.clockArgs()
        ];
    }
    /** Now, and the latest time that events may have. */ clockArgs() {
        const { nowMs, latestMs = nowMs } = this.options;
        return [
            String(nowMs()),
            String(latestMs() + FUTURE_MS_MAX)
        ];
    }
    recordKey(userId) {
        return `${this.options.keyPrefix}{${tagged(userId)}}:r`;
    }
    userOf(recordKey) {
        return decodeURIComponent(recordKey.slice(this.options.keyPrefix.length + 1, -'}:r'.length));
    }
    keysOf(userId) {
        const stem = this.recordKey(userId).slice(0, -1);
        const { windows } = this.options.retention;
        const ofWindows = (letter)=>windows.map((_, index)=>`${stem}${letter}${index}`);
        return [
            `${stem}r`,
            `${stem}e`,
            ...ofWindows('w'),
            ...ofWindows('c')
        ];
    }
}
function chunks(list, size) {
    const count = Math.ceil(list.length / size);
    return Array.from({
        length: count
    }, (_, i)=>list.slice(i * size, (i + 1) * size));
}

//# sourceMappingURL=redis-behaviour-log.js.map