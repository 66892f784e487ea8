import { createHash } from "node:crypto";
import { NO_ITEM } from "../../engine/src/index.js";
import { TesseraError } from "../../ops/errors/src/index.js";
/** A catalogue in memory, its own only version; the ordinal of an item is its place in the list. */ export class FakeCatalogue {
    list;
    summary;
    closed = false;
    hasFlights = false;
    valuations = [];
    ordinals;
    constructor(list){
        this.list = list;
        this.ordinals = new Map(list.map((item, ordinal)=>[
                item.itemId,
                ordinal
            ]));
        const depth = Math.max(0, ...list.map((item)=>item.sid.length));
        const levelSizes = Array.from({
            length: depth
        }, (_, level)=>1 + Math.max(...list.map((item)=>item.sid[level] ?? 0)));
        this.summary = {
            digest: 'fake-catalogue',
            depth,
            levelSizes,
            levelPatterns: levelSizes.map(()=>''),
            pathCount: new Set(list.map((item)=>item.sid.join(','))).size,
            itemCount: list.length,
            fileBytes: 0
        };
    }
    state() {
        return {
            sequence: 0,
            mark: '',
            baseDigest: this.summary.digest,
            liveItemCount: this.summary.itemCount,
            changedItemCount: 0,
            changesSinceSnapshot: 0,
            snapshotItemCount: this.summary.itemCount,
            replayedChanges: 0,
            cutBytes: 0
        };
    }
    view() {
        return this;
    }
    find(itemIds) {
        return Uint32Array.from(itemIds, (itemId)=>this.ordinals.get(itemId) ?? NO_ITEM);
    }
    sids(ordinals) {
        return Array.from(ordinals, (ordinal)=>[
                ...this.at(ordinal).sid
            ]);
    }
    items(ordinals) {
        return Array.from(ordinals, (ordinal)=>{
            const { itemId, title = '', attributes = '{}' } = this.at(ordinal);
            return {
                itemId,
                title,
                attributes,
                isPaused: false
            };
        });
    }
    get sequence() {
        return this.state().sequence;
    }
    /** Knows `denied`, and caps of items, alone. */ async reach({ eligibility, valuation }) {
        const { denied, caps } = eligibility;
        const capped = caps.flatMap(({ itemIds, behaviours, maxBehaviours })=>itemIds.filter((_, i)=>(behaviours[i] ?? 0) >= maxBehaviours));
        const cappedItems = new Set(capped.filter((itemId)=>this.ordinals.has(itemId))).size;
        return {
            sequence: 0,
            denied: [
                ...denied,
                ...capped
            ],
            cappedItems,
            valuation
        };
    }
    firstObtainable(reach, itemIds, count) {
        const { denied } = reach;
        const obtainable = itemIds.filter((id)=>this.ordinals.has(id) && !denied.includes(id));
        const ordinals = this.find(obtainable.slice(0, count));
        const sids = this.sids(ordinals);
        return this.items(ordinals).map((item, i)=>Object.assign({
                sid: sids[i] ?? [],
                priority: 0,
                isPaused: false
            }, item));
    }
    /** Knows `denied` alone; every item of the list is live. */ async judge({ request, itemId, sequence }) {
        if (sequence !== undefined && sequence !== this.state().sequence) {
            throw new TesseraError('CATALOGUE_NOT_FOUND', `version ${sequence} is not kept`);
        }
        const reach = await this.reach(request);
        const item = this.ordinals.get(itemId) ?? NO_ITEM;
        const nothing = {
            clause: '',
            notLiveSince: 0
        };
        if (item === NO_ITEM) return {
            ...nothing,
            reach,
            item,
            verdict: 'not-in-catalogue',
            sid: []
        };
        const sid = [
            ...this.at(item).sid
        ];
        return reach.denied.includes(itemId) ? {
            ...nothing,
            reach,
            item,
            verdict: 'not-eligible',
            clause: 'denied',
            sid
        } : {
            ...nothing,
            reach,
            item,
            verdict: 'open',
            sid
        };
    }
    /** Knows the attribute `bid` alone, which it takes times the weight of the request. */ appraise(reach, itemIds) {
        const { floor = NaN, weights = [] } = reach.valuation ?? {};
        const bids = itemIds.map((itemId)=>{
            const { attributes = '{}' } = this.list[this.ordinals.get(itemId) ?? NO_ITEM] ?? {};
            const { bid = Number.NaN } = JSON.parse(attributes);
            return bid * (weights[0]?.weight ?? 1);
        });
        return {
            scoreWeight: 1,
            floor: Number.isNaN(floor) ? Number.NEGATIVE_INFINITY : floor,
            bid: 0,
            names: [
                'bid'
            ],
            terms: Float64Array.from(bids),
            paces: Float64Array.from(bids, ()=>1),
            sums: Float32Array.from(bids, (bid)=>Number.isNaN(bid) ? Number.NEGATIVE_INFINITY : bid)
        };
    }
    async excludedItems(reach) {
        const { sums } = this.appraise(reach, [
            ...this.ordinals.keys()
        ]);
        return sums.filter((sum)=>sum === Number.NEGATIVE_INFINITY).length;
    }
    close() {
        this.closed = true;
    }
    at(ordinal) {
        const item = this.list[ordinal];
        if (item !== undefined) return item;
        throw new TesseraError('REQUEST_INVALID', `ordinal ${ordinal} is out of range`);
    }
}
/**
 * Takes changes and numbers them, one for what a predicate matches; an item called `wrong` is
 * refused. Keeps the changes, and the newest mark.
 */ export class FakeChangingCatalogue extends FakeCatalogue {
    applied = [];
    compactions = 0;
    mark = '';
    async keep() {}
    async declare() {
        return [];
    }
    async quantiseBy() {}
    async valueBy(valuations) {
        this.valuations = valuations;
    }
    /** Every vector goes to the first item's SID, which has room. */ async landing(vector, neighbours) {
        const [{ itemId = '', sid = [], title = '' } = {}] = this.list;
        const shown = neighbours > 0;
        return {
            sequence: this.applied.length,
            codes: sid,
            distances: Float64Array.from(sid, ()=>vector.length),
            sid,
            itemIds: shown ? [
                itemId
            ] : [],
            titles: shown ? [
                title
            ] : [],
            sidOffsets: Uint32Array.from(shown ? [
                0,
                sid.length
            ] : [
                0
            ]),
            sidCodes: Uint32Array.from(shown ? sid : []),
            sharedLevels: Uint32Array.from(shown ? [
                sid.length
            ] : [])
        };
    }
    fly() {
        this.hasFlights = true;
    }
    isInFlight() {
        return true;
    }
    whyNotWritten() {
        return '';
    }
    async recoverWriting() {}
    state() {
        const { length } = this.applied;
        return {
            ...super.state(),
            sequence: length,
            mark: this.mark,
            changedItemCount: length,
            changesSinceSnapshot: length
        };
    }
    async apply(messages, mark = '') {
        if (messages.length === 0) {
            throw new TesseraError('REQUEST_INVALID', 'messages: expected one at least, got none');
        }
        const batch = messages.flat();
        const wrong = batch.findIndex((change)=>change.itemId === 'wrong');
        if (wrong >= 0) {
            const field = `changes[${wrong}].sid`;
            throw new TesseraError('CATALOGUE_INVALID', `${field}: expected another`, {
                field
            });
        }
        this.applied.push(...batch);
        if (mark !== '') this.mark = mark;
        const matched = batch.filter(({ predicate })=>predicate !== undefined).map(()=>1);
        const changeCount = batch.length;
        return {
            sequence: this.applied.length,
            changeCount,
            matched: Uint32Array.from(matched),
            placed: {
                offsets: Uint32Array.of(0),
                codes: new Uint32Array()
            }
        };
    }
    /** Of the changes, in their order: the same for two that were given the same. */ async digest() {
        const { sequence, mark } = this.state();
        const content = JSON.stringify([
            this.list,
            this.applied
        ]);
        const digest = createHash('sha256').update(content).digest('hex').slice(0, 32);
        return {
            sequence,
            mark,
            digest
        };
    }
    async compact() {
        this.compactions += 1;
        return this.applied.length;
    }
    *listItems() {
        yield this.list.map(({ itemId, sid, title = '', attributes = '{}' })=>({
                itemId,
                sid,
                title,
                attributes,
                priority: 0,
                isPaused: false
            }));
    }
    async generations() {
        const { sequence, baseDigest } = this.state();
        return [
            {
                firstSequence: 0,
                lastSequence: sequence,
                logBytes: 64,
                baseDigest
            }
        ];
    }
    async rollBack(sequence) {
        if (sequence > this.applied.length) {
            throw new TesseraError('CATALOGUE_NOT_FOUND', `version ${sequence} is not kept`);
        }
        return this.applied.length + 1;
    }
}

//# sourceMappingURL=fake-catalogue.js.map