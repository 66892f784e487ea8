function _ts_decorate(decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") {
        r = Reflect.decorate(decorators, target, key, desc);
    } else {
        for(var i = decorators.length - 1; i >= 0; i--){
            if (d = decorators[i]) {
                r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
            }
        }
    }
    return c > 3 && r && Object.defineProperty(target, key, r), r;
}
function _ts_metadata(metadataKey, metadataValue) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") {
        return Reflect.metadata(metadataKey, metadataValue);
    }
}
import { createHash } from "node:crypto";
import { Injectable } from "@nestjs/common";
import { exploredTraffic, outcomesPage } from "../../../libs/insight/analysis/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { TEMPERATURE_MIN } from "../../../libs/service/recall/src/index.js";
import { MICROSECONDS_PER_MILLISECOND, MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
import { ConsoleParts } from "./console-parts.js";
import { invalid } from "./fields.js";
import { Recorded } from "./recorded.js";
import { BASE, replayOf } from "./replay.js";
import { versionedContext } from "./trial-settings.js";
/** Recorded recalls that are looked through for those of facts. */ const RECORDS_MAX = 50_000;
/** Draws by which a target that explores says how likely its items are. */ const DRAWS = 8;
const SEED_BYTES = 6;
/** Recalls of this service that are under way at a time. */ const AT_ONCE = 4;
/** Recorded recalls that are read together. */ const READ_AT_ONCE = 100;
/** A valuation's name that stands for none: items go by likelihood. */ const NONE = 'none';
const MEMBERS = [
    'adapter',
    'valuation',
    'temperature'
];
/** Reads `adapter=B,temperature=2`. @throws TesseraError REQUEST_INVALID */ export function targetOf(text) {
    const pairs = text.split(',').map((part)=>{
        const at = part.indexOf('=');
        const [name, value] = [
            part.slice(0, at).trim(),
            part.slice(at + 1).trim()
        ];
        if (MEMBERS.some((one)=>one === name) && value !== '') return [
            name,
            value
        ];
        throw invalid('what', 'adapter=NAME, valuation=NAME, temperature=NUMBER', text);
    });
    const { temperature, ...named } = Object.fromEntries(pairs);
    if (temperature === undefined) return named;
    const number = Number(temperature);
    if (number >= TEMPERATURE_MIN && Number.isFinite(number)) return {
        ...named,
        temperature: number
    };
    throw invalid('what', `a temperature of at least ${TEMPERATURE_MIN}`, temperature);
}
/** Of each recall others, or one item would be drawn for many users at once. */ function seedOf(recallId, draw) {
    return createHash('sha256').update(`${recallId} ${draw}`).digest().readUIntBE(0, SEED_BYTES);
}
/** @param json undefined where it was removed meanwhile. @throws TesseraError REQUEST_INVALID */ function replayedOf(id, json) {
    const { request, answer, history = [], profile = {} } = JSON.parse(json ?? '{}');
    if (answer === undefined) throw invalid('recall', 'one that is kept, with an answer', id);
    return {
        id,
        request,
        answer: {
            versions: answer.versions,
            history,
            profile
        }
    };
}
/** The recall as it was asked, of the target: once, or with so many seeds. */ export function requestsOf({ id, request, answer }, { adapter, valuation, temperature }) {
    const { explore, valuation: own, ...replay } = replayOf(request, answer);
    const named = valuation === undefined ? own : {
        name: valuation,
        weights: {}
    };
    const asked = {
        ...replay,
        priority: 'low',
        // Of a recall that explores, whatever it said.
        scoreNorm: 'allowed',
        adapter: adapter ?? (answer.versions.adapter || BASE),
        ...named !== undefined && named.name !== NONE && {
            valuation: named
        }
    };
    if (temperature === undefined) return [
        asked
    ];
    return Array.from({
        length: DRAWS
    }, (_, draw)=>({
            ...asked,
            explore: {
                ...explore,
                temperature,
                seed: seedOf(id, draw)
            }
        }));
}
export class AskedOutcomes {
    parts;
    recorded;
    constructor(parts, recorded){
        this.parts = parts;
        this.recorded = recorded;
    }
    async page(asking, filter, wanted) {
        const { target, reward, recallsMax } = wanted;
        const traffic = await exploredTraffic(asking, filter, reward);
        const records = await this.records(filter, asking.signal);
        const alike = Map.groupBy(traffic.recalls, ({ requestId })=>requestId);
        const found = traffic.recalls.flatMap(({ recallId, requestId })=>{
            const record = records.get(requestId);
            const isOne = alike.get(requestId)?.length === 1;
            return record === undefined || !isOne ? [] : [
                {
                    recallId,
                    record
                }
            ];
        });
        const unasked = {};
        const leave = (reason, count)=>{
            if (count > 0) unasked[reason] = (unasked[reason] ?? 0) + count;
        };
        leave('unrecorded', traffic.recalls.length - found.length);
        const targets = new Map();
        const signal = asking.signal ?? new AbortController().signal;
        for(let from = 0; from < Math.min(found.length, recallsMax); from += READ_AT_ONCE){
            const part = found.slice(from, Math.min(from + READ_AT_ONCE, recallsMax));
            const details = await this.details(part, signal);
            const queue = part.values();
            const work = async ()=>{
                for (const { recallId, record } of queue){
                    signal.throwIfAborted();
                    try {
                        const asked = replayedOf(record, details.get(record));
                        targets.set(recallId, await this.sharesOf(asked, target, signal));
                    } catch (thrown) {
                        leave(TesseraError.from(thrown).code, 1);
                    }
                }
            };
            await Promise.all(Array.from({
                length: AT_ONCE
            }, work));
        }
        return outcomesPage(traffic, targets, {
            reward,
            unasked
        });
    }
    /** IDs of recorded recalls by their request IDs, of those that one recall alone has. */ async records(filter, signal) {
        const { store } = this.recorded;
        await store.settled();
        const time = (ms)=>`make_timestamp(${ms}::BIGINT * 1000)`;
        const sql = 'SELECT request_id, min(id) FROM recalls ' + `WHERE code = 'OK' AND time >= ${time(filter.fromMs)} AND time < ${time(filter.toMs)} ` + 'GROUP BY request_id HAVING count(*) = 1 ' + `ORDER BY max(time) DESC LIMIT ${RECORDS_MAX}`;
        return this.texts(sql, signal);
    }
    /** JSON of recorded recalls by their IDs; one by one each would be looked for anew. */ details(found, signal) {
        const ids = found.map(({ record })=>`'${record}'`).join(', ');
        return this.texts(`SELECT id, detail FROM recalls WHERE id IN (${ids})`, signal);
    }
    /** Rows of two texts. */ async texts(sql, signal) {
        const timeoutMs = this.parts.limits.sqlSeconds * MILLISECONDS_PER_SECOND;
        const limits = {
            rowsMax: RECORDS_MAX,
            timeoutMs
        };
        const json = await this.recorded.store.query(sql, limits, signal);
        const { rows } = JSON.parse(new TextDecoder().decode(json));
        return new Map(rows.map(([key, text])=>[
                String(key),
                String(text)
            ]));
    }
    /** How often the target's answers have each item: 0..1. */ async sharesOf(of, target, signal) {
        const { serving } = this.parts.runtime;
        const requests = requestsOf(of, target);
        const [first] = requests;
        const budgetUs = this.parts.limits.defaultDeadlineMs * MICROSECONDS_PER_MILLISECOND;
        const { catalogueSequence } = of.answer.versions;
        const plain = {
            signal,
            budgetUs,
            isOwn: true
        };
        const context = await versionedContext(serving, first, catalogueSequence, plain);
        const shares = new Map();
        for (const asked of requests){
            const { items } = await serving.recall(asked, context);
            for (const { itemId } of items){
                shares.set(itemId, (shares.get(itemId) ?? 0) + 1 / requests.length);
            }
        }
        return shares;
    }
}
AskedOutcomes = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Recorded === "undefined" ? Object : Recorded
    ])
], AskedOutcomes);

//# sourceMappingURL=asked-outcomes.js.map