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
import { Injectable } from "@nestjs/common";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
import { ConsoleParts } from "./console-parts.js";
import { isDeep, searchSql } from "./recall-search.js";
import { Recorded } from "./recorded.js";
/** Recalls that are remembered: those of a hundred pages. */ const KNOWN_MAX = 5000;
/** Recalls of one millisecond among which one is looked for. */ const AT_ONCE_MAX = 500;
function traitsOf({ request: { scene }, answer }) {
    return answer === undefined ? {
        scene
    } : {
        scene,
        versions: answer.versions
    };
}
export class RecallLists {
    parts;
    recorded;
    /** A recorded recall never changes: what was read of it once is kept, the oldest goes first. */ known = new Map();
    /** Erasures so far: what was read before one may be of the user who went. */ erasures = 0;
    constructor(parts, recorded){
        this.parts = parts;
        this.recorded = recorded;
        parts.store?.onErasure((userId)=>this.forget(userId));
    }
    /** In the order that is asked for; those of a set newest first. */ async list(search, node, signal) {
        const { store } = this.recorded;
        await store.settled();
        if (search.set !== undefined) return this.ofSet(search.set, search, node);
        if (isDeep(search)) return this.ofIds(await this.found(search, signal), node);
        const recalls = await store.recalls(search);
        const listed = [];
        for (const recall of recalls){
            const read = await this.read(recall.id);
            if (read !== undefined) listed.push(Object.assign({
                node
            }, recall, read.traits));
        }
        return listed;
    }
    async ofSet(name, { offset, limit }, node) {
        const sets = await this.recorded.store.shelf.savedSets();
        const set = sets.find((one)=>one.name === name);
        if (set === undefined) {
            const message = `set: expected the name of one that is kept, got '${name.slice(0, 80)}'`;
            throw new TesseraError('ROUTE_NOT_FOUND', message, {
                field: 'set'
            });
        }
        return this.ofIds(set.recallIds.slice(offset, offset + limit), node);
    }
    /** Those that are still kept. */ async ofIds(ids, node) {
        const listed = [];
        for (const id of ids){
            const read = await this.read(id);
            if (read === undefined) continue;
            const { timeMs, traits } = read;
            const span = {
                fromMs: timeMs,
                beforeMs: timeMs + 1,
                limit: AT_ONCE_MAX
            };
            const recalls = await this.recorded.store.recalls(span);
            const summary = recalls.find((recall)=>recall.id === id);
            if (summary !== undefined) listed.push(Object.assign({
                node
            }, summary, traits));
        }
        return listed;
    }
    /** Undefined: it is no longer kept. */ async read(id) {
        const known = this.known.get(id);
        if (known !== undefined) return known;
        const { erasures } = this;
        const recall = await this.recorded.store.recall(id);
        if (recall === undefined) return undefined;
        const { timeMs, request } = recall;
        const read = {
            userId: request.userId ?? '',
            timeMs,
            traits: traitsOf(recall)
        };
        if (erasures !== this.erasures) return read;
        this.known.set(id, read);
        for (const oldest of this.known.keys()){
            if (this.known.size <= KNOWN_MAX) break;
            this.known.delete(oldest);
        }
        return read;
    }
    forget(userId) {
        this.erasures += 1;
        for (const [id, read] of this.known)if (read.userId === userId) this.known.delete(id);
    }
    async found(search, signal) {
        const { sqlSeconds } = this.parts.limits;
        const limits = {
            rowsMax: search.limit,
            timeoutMs: sqlSeconds * MILLISECONDS_PER_SECOND
        };
        const json = await this.recorded.store.query(searchSql(search), limits, signal);
        const { rows } = JSON.parse(new TextDecoder().decode(json));
        return rows.map(([id])=>String(id));
    }
}
RecallLists = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Recorded === "undefined" ? Object : Recorded
    ])
], RecallLists);

//# sourceMappingURL=recall-lists.js.map