import { Engine, NOTHING_FOUND } from "../../engine/src/index.js";
import { TesseraError } from "../../ops/errors/src/index.js";
import { certificateOf, fateOf, returnedOf } from "./fake-fate.js";
/** Prefers SIDs near the last token of the prompt; any fixed rule would do. */ const defaultScore = (sid, prompt)=>-sid.reduce((sum, code)=>sum + Math.abs(code - (prompt.at(-1) ?? 0) % 7), 0) - 1;
const NOTHING_DRAWN = {
    pace: 1,
    criticalBid: Number.NaN,
    explored: false,
    propensity: 1
};
const TIMINGS = {
    queueUs: 1,
    planUs: 7,
    prefillUs: 2,
    decodeUs: 3,
    projectionsUs: 3,
    attentionUs: 1,
    headUs: 4,
    selectUs: 5,
    forkUs: 8,
    exportUs: 6,
    totalUs: 36
};
/** Head h says 1 / (2 + h + ordinal) of an item. */ function headsOf(ranking, ordinals) {
    const { heads = [] } = ranking?.adapter ?? {};
    return Float32Array.from(Array.from(ordinals, (ordinal)=>heads.map((_, head)=>1 / (2 + head + ordinal))).flat());
}
const COUNTED = 'chainTokens leases prefetching lookups askedTokens commits commitsLost refusedExtends ' + 'prefetches prefetchesRefused loadsFailed loadsCorrupt loadWaitUs stores storesDropped ' + 'storesFailed storeWaitUs storeQueue computeTokenUs inexactTokens commitsRematched ' + 'inheritedTokens inheritedChains indexesDropped looks looksFound lookUs puts putsChanged ' + 'putsErased putsFailed loadsMissing headsRefused';
const NO_COUNTS = Object.fromEntries(COUNTED.split(' ').map((name)=>[
        name,
        0
    ]));
const TIER_COUNTS = {
    capacityBlocks: 0,
    usedBlocks: 0,
    hitTokens: 0,
    readBytes: 0,
    writtenBytes: 0,
    readUs: 0,
    writtenUs: 0,
    evictedBlocks: 0,
    evictedDirtyBlocks: 0
};
/** A pool that holds what a test puts into it. */ export class FakeKvPool {
    chains = new Map();
    droppedVersions = [];
    storeError = '';
    metrics() {
        return {
            chains: this.chains.size,
            ...NO_COUNTS,
            isStoring: this.storeError === '' ? 1 : 0,
            blockBytes: 64,
            storedBlockBytes: 64,
            tiers: [
                'device',
                'host',
                'disk'
            ].map((tier)=>({
                    tier,
                    ...TIER_COUNTS
                })),
            storeError: this.storeError
        };
    }
    holds(userId) {
        return this.inspect(userId).some((chain)=>!chain.isRetired);
    }
    inspect(userId) {
        return this.chains.get(userId) ?? [];
    }
    async dropUser(userId) {
        this.chains.delete(userId);
    }
    noteErasures() {}
    dropVersion(version) {
        this.droppedVersions.push(version);
        return [
            ...this.chains.values()
        ].flat().some((chain)=>chain.version === version);
    }
    async checkIntegrity() {
        return {
            chains: this.chains.size,
            blocks: 0,
            checkedDiskBlocks: 0,
            corruptDiskBlocks: 0,
            unreadableDiskBlocks: 0,
            faults: []
        };
    }
}
/** The engine port by brute force: scores every path of the catalogue. Keeps what it was asked. */ export class FakeEngine extends Engine {
    options;
    model;
    updates = 0;
    requests = [];
    scoreRequests = [];
    rankRequests = [];
    appendRequests = [];
    bound = [];
    /** Users, in the order of their prefetches; a ticket is 1 + the index. */ prefetched = [];
    /** Tickets of prefetches that were given up. */ released = [];
    reserved = new Set();
    /** Loaded and not released; the digest of each is its folder. */ adapters = new Set();
    /** Digest and predecessor's digest. */ successions = [];
    kvPool = new FakeKvPool();
    draining = false;
    closeCount = 0;
    /** While set, recalls wait for it (or for their signal). */ gate;
    cancelledCount = 0;
    constructor(options = {}){
        super(), this.options = options;
        this.model = {
            family: 'fake',
            vocabSize: 100_000,
            hiddenSize: 8,
            layerCount: 1,
            maxPositions: options.maxPositions ?? 1024,
            parameterCount: 64,
            digest: 'fake-model',
            computeType: 'f32',
            kvBytesPerPosition: 64,
            headSize: 100_000,
            weightBytes: 0,
            instructionSet: 'portable'
        };
    }
    bind(catalogue, tokens) {
        this.bound.push(tokens);
        return {
            slot: this.bound.length - 1,
            catalogue
        };
    }
    unbind(binding) {
        this.bound.splice(binding.slot, 1);
    }
    async recall(request, signal) {
        this.requests.push(request);
        await this.admitted(request, signal);
        return this.answer(request);
    }
    async score(request, signal) {
        this.scoreRequests.push(request);
        await this.admitted(request, signal);
        const { catalogue } = request.binding;
        const ordinals = Uint32Array.from({
            length: catalogue.summary.itemCount
        }, (_, i)=>i);
        const known = new Set(catalogue.view().sids(ordinals).map((sid)=>sid.join()));
        const rule = this.options.score ?? defaultScore;
        const scores = request.sids.map((sid)=>known.has(sid.join()) ? rule(sid, request.promptTokens) : undefined);
        return {
            scores,
            modelDigest: this.model.digest,
            catalogueSequence: 0,
            prefixReusedTokens: 0,
            kv: NOTHING_FOUND,
            timings: TIMINGS
        };
    }
    async rank(request, signal) {
        this.rankRequests.push(request);
        await this.admitted(request, signal);
        return {
            heads: headsOf(request.ranking, request.items),
            modelDigest: this.model.digest,
            catalogueSequence: request.reach.sequence,
            prefixReusedTokens: 0,
            kv: NOTHING_FOUND,
            timings: TIMINGS
        };
    }
    relevance() {
        throw new TesseraError('INTERNAL', 'relevance: expected an engine with a model');
    }
    async append(request, signal) {
        this.appendRequests.push(request);
        await this.admitted(request, signal);
        return {
            kv: NOTHING_FOUND,
            prefixReusedTokens: 0
        };
    }
    prefetch(_binding, userId) {
        const ticket = this.prefetched.push(userId);
        this.reserved.add(ticket);
        const release = ()=>{
            if (this.reserved.delete(ticket)) this.released.push(ticket);
        };
        return {
            ticket,
            release
        };
    }
    held() {
        const prefetches = this.reserved.size;
        const reservedTickets = prefetches;
        return {
            tickets: 0,
            reservedTickets,
            inFlight: 0,
            prefetches,
            leases: 0
        };
    }
    async loadAdapter(folder) {
        const adapter = {
            digest: folder,
            bytes: 1,
            rankMax: 1,
            targetCount: 1,
            replacedRows: 0,
            largestNorm: 1,
            heads: this.options.heads ?? [],
            isActivated: false
        };
        this.adapters.add(adapter);
        return adapter;
    }
    releaseAdapter(adapter) {
        if (!this.adapters.delete(adapter)) throw new TesseraError('INTERNAL', 'adapter: not loaded');
    }
    succeedAdapter(adapter, predecessor) {
        this.successions.push([
            adapter.digest,
            predecessor.digest
        ]);
    }
    adapterArena() {
        const adapters = this.adapters.size;
        return {
            usedBytes: adapters,
            maxBytes: Number.MAX_SAFE_INTEGER,
            adapters
        };
    }
    async admitted({ kv }, signal) {
        this.reserved.delete(kv?.prefetch?.ticket ?? 0);
        if (this.draining) throw new TesseraError('ENGINE_UNAVAILABLE', 'the engine is draining');
        if (this.gate !== undefined) await this.opened(this.gate, signal);
    }
    /** The folder's name becomes the digest. */ async updateWeights(folder) {
        this.model = {
            ...this.model,
            digest: folder
        };
        this.updates += 1;
        return {
            digest: folder,
            generation: this.updates,
            drainedUs: 0,
            swappedUs: 0
        };
    }
    forecast() {
        const idle = {
            waitUs: 0,
            turnUs: 0
        };
        return {
            classes: [
                idle,
                idle,
                idle
            ]
        };
    }
    stats() {
        return {
            queued: 0,
            running: 0,
            inFlight: 0,
            reserved: 0,
            submitted: this.requests.length,
            completed: this.requests.length - this.cancelledCount,
            failed: 0,
            cancelled: this.cancelledCount,
            expired: 0,
            prefillTokens: 0,
            decodeTokens: 0,
            forwardPasses: 0,
            prefixReusedTokens: 0,
            rolledBackTokens: 0,
            predictedUs: 0,
            actualUs: 0,
            expertRows: 0,
            expertPlaces: 0,
            expertsTouched: 0,
            passUs: 0,
            tokenUs: 0,
            tokenPairUs: 0,
            backlogUs: 0
        };
    }
    async drain() {
        this.draining = true;
    }
    async close() {
        this.closeCount += 1;
    }
    async opened(gate, signal) {
        const aborted = new Promise((_, reject)=>{
            signal?.addEventListener('abort', ()=>{
                this.cancelledCount += 1;
                reject(new TesseraError('CANCELLED', 'the request was cancelled'));
            });
        });
        await Promise.race([
            gate,
            aborted
        ]);
    }
    answer(request) {
        const { promptTokens, resultCount, itemsPerSid, widths, attributes = [] } = request;
        const { catalogue } = request.binding;
        const denied = request.reach?.denied ?? [];
        const all = Uint32Array.from({
            length: catalogue.summary.itemCount
        }, (_, i)=>i);
        const described = catalogue.view().items(all);
        const ordinals = all.filter((i)=>!denied.includes(described[i]?.itemId ?? ''));
        const bySid = new Map();
        catalogue.view().sids(ordinals).forEach((sid, index)=>{
            const ordinal = ordinals[index];
            const score = (this.options.score ?? defaultScore)(sid, promptTokens);
            const entry = bySid.get(sid.join()) ?? {
                path: {
                    sid,
                    score
                },
                ordinals: []
            };
            entry.ordinals.push(ordinal);
            bySid.set(sid.join(), entry);
        });
        const ranked = [
            ...bySid.values()
        ].sort((a, b)=>b.path.score - a.path.score || (a.path.sid.join() < b.path.sid.join() ? -1 : 1));
        const rows = request.rowBudget || widths.at(-1);
        const kept = ranked.slice(0, rows);
        const countOf = (cap)=>kept.reduce((count, { ordinals: own })=>count + Math.min(own.length, cap), 0);
        let cap = Math.max(itemsPerSid, 1);
        while(itemsPerSid === 0 && cap < resultCount && countOf(cap) < resultCount)cap *= 2;
        const items = kept.flatMap(({ path, ordinals: own }, index)=>own.slice(0, cap).map((ordinal)=>({
                    ordinal,
                    itemId: described[ordinal]?.itemId ?? '',
                    title: described[ordinal]?.title ?? '',
                    attributes: attributes.length > 0 ? described[ordinal]?.attributes ?? '{}' : '',
                    score: path.score,
                    path: index,
                    value: path.score,
                    ...NOTHING_DRAWN
                })));
        const { returned, ...worth } = returnedOf(request, items);
        return {
            items: returned,
            itemsPerSid: cap,
            leftOutByDiversity: 0,
            completeness: 'whole',
            ...certificateOf(ranked[kept.length]?.path.score, returned.length === resultCount),
            rows: kept.length,
            ...worth,
            fate: fateOf(request.watchedItem, returned),
            paths: kept.map(({ path })=>path),
            modelDigest: this.model.digest,
            catalogueSequence: 0,
            widthsUsed: catalogue.summary.levelSizes.map(()=>kept.length),
            prefixReusedTokens: 0,
            kv: NOTHING_FOUND,
            timings: TIMINGS,
            passes: [],
            heads: headsOf(request.ranking, returned.map(({ ordinal })=>ordinal))
        };
    }
}

//# sourceMappingURL=fake-engine.js.map