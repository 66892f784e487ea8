import { TesseraError } from "../../ops/errors/src/index.js";
import { PackedWriter, writeAttributeDeclarations, writeChangeMessage, writeGivenCodebooks, writeValueRequest } from "../../../native/ts/index.js";
import { addon } from "./addon.js";
import { awaitNative, callNative } from "./native-error.js";
import { packReach } from "./pack-reach.js";
const NEWEST = -1;
/** About a millisecond's worth: listing runs on the thread that serves. */ const LISTED_AT_ONCE = 128;
export class NativeReach {
    handle;
    sequence;
    cappedItems;
    constructor(/** Seen by NativeEngine alone. */ handle, sequence, cappedItems){
        this.handle = handle;
        this.sequence = sequence;
        this.cappedItems = cappedItems;
    }
}
const NO_PATCH = {
    set: '',
    unset: [],
    add: [],
    take: [],
    delta: []
};
const NOTHING_GIVEN = {
    sid: [],
    title: '',
    attributes: '',
    priority: 0,
    predicate: undefined,
    vector: new Float32Array()
};
/** Its three members cross as those of other kinds (native/abi/catalogue.mjs). */ const ofPace = ({ attribute, text, factor })=>({
        itemId: text,
        title: attribute,
        priority: factor
    });
const MEMBERS_OF_PACE = {
    itemId: 'text',
    title: 'attribute',
    priority: 'factor'
};
const PACE_FAULT = /^changes\[(\d+)\]\.(itemId|title|priority)/;
/** A refusal of a pace names the member as it was given. */ function paceNamed(error, messages) {
    const { code, message, field } = error;
    const [, at = '', member = ''] = PACE_FAULT.exec(message) ?? [];
    if (at === '' || messages.flat()[Number(at)]?.op !== 'set_pace') return error;
    const named = (text)=>text.replace(`].${member}`, `].${MEMBERS_OF_PACE[member]}`);
    return new TesseraError(code, named(message), {
        field: field && named(field),
        cause: error
    });
}
const completed = ({ pace, patch, ...given })=>({
        ...NOTHING_GIVEN,
        ...given,
        ...pace && ofPace(pace),
        patch: patch === undefined ? NO_PATCH : {
            ...NO_PATCH,
            ...patch
        }
    });
function handleOf(reach) {
    if (reach instanceof NativeReach) return reach.handle;
    throw new TypeError('reach: expected a native one');
}
function listedItems(listing) {
    return listing.itemIds.map((itemId, i)=>({
            itemId,
            title: listing.titles[i] ?? '',
            attributes: listing.attributes[i] ?? '{}',
            priority: listing.priorities[i] ?? 0,
            isPaused: listing.paused[i] === 1,
            sid: [
                ...listing.sidCodes.subarray(listing.sidOffsets[i], listing.sidOffsets[i + 1])
            ]
        }));
}
function packed(write, from) {
    const [words, count] = new PackedWriter().record(write, from);
    return words.subarray(0, count);
}
const packChanges = (changes)=>packed(writeChangeMessage, {
        changes: changes.map(completed)
    });
let NativeView = class NativeView {
    handle;
    constructor(handle){
        this.handle = handle;
    }
    find(itemIds) {
        return callNative(()=>addon().catalogueFind(this.handle, itemIds));
    }
    sids(ordinals) {
        const { offsets, codes } = callNative(()=>addon().catalogueSids(this.handle, ordinals));
        return Array.from(ordinals, (_, i)=>[
                ...codes.subarray(offsets[i], offsets[i + 1])
            ]);
    }
    items(ordinals) {
        const { itemIds, titles, attributes, paused } = callNative(()=>addon().catalogueItems(this.handle, ordinals));
        return itemIds.map((itemId, i)=>({
                itemId,
                title: titles[i] ?? '',
                attributes: attributes[i] ?? '{}',
                isPaused: paused[i] === 1
            }));
    }
    get sequence() {
        return callNative(()=>addon().catalogueItems(this.handle, new Uint32Array())).sequence;
    }
};
/**
 * A snapshot mapped by the addon, and the changes to it. Reads go straight there; nothing is kept
 * in JavaScript.
 */ export class NativeCatalogue {
    handle;
    summary;
    hasFlights = false;
    valuations = [];
    nowMs = Date.now;
    flight;
    constructor(/** Seen by NativeEngine alone. */ handle){
        this.handle = handle;
        this.summary = this.describe();
    }
    describe() {
        return callNative(()=>addon().catalogueInfo(this.handle));
    }
    view() {
        return new NativeView(callNative(()=>addon().catalogueView(this.handle)));
    }
    async reach(request) {
        const { reach, sequence, cappedItems } = await awaitNative(()=>addon().catalogueReach(this.handle, ...packReach(request), this.nowMs()));
        return new NativeReach(reach, sequence, cappedItems);
    }
    async judge({ request, itemId, sequence = NEWEST }) {
        const judged = await awaitNative(()=>addon().catalogueJudge(this.handle, ...packReach(request), itemId, sequence, this.nowMs()));
        const { reach, sequence: pinned, cappedItems } = judged;
        return {
            ...judged,
            reach: new NativeReach(reach, pinned, cappedItems)
        };
    }
    async keep({ folder, sync, levelSizes, reserveBytes }) {
        const options = {
            folder,
            sync,
            levelSizes: Uint32Array.from(levelSizes),
            reserveBytes
        };
        await awaitNative(()=>addon().catalogueKeep(this.handle, options));
        this.summary = this.describe();
    }
    state() {
        return callNative(()=>addon().catalogueState(this.handle));
    }
    whyNotWritten() {
        return callNative(()=>addon().catalogueWhyNotWritten(this.handle));
    }
    recoverWriting() {
        return awaitNative(()=>addon().catalogueRecover(this.handle));
    }
    async apply(messages, mark = '') {
        const packs = messages.map(packChanges);
        return awaitNative(()=>addon().catalogueApply(this.handle, packs, mark)).catch((thrown)=>{
            throw paceNamed(TesseraError.from(thrown), messages);
        });
    }
    digest() {
        return awaitNative(()=>addon().catalogueDigest(this.handle));
    }
    declare(attributes) {
        const declarations = [
            packed(writeAttributeDeclarations, {
                attributes
            })
        ];
        return awaitNative(()=>addon().catalogueDeclare(this.handle, declarations));
    }
    quantiseBy(codebooks) {
        const messages = [
            packed(writeGivenCodebooks, codebooks)
        ];
        return awaitNative(()=>addon().catalogueQuantiseBy(this.handle, messages));
    }
    landing(vector, neighbours) {
        return awaitNative(()=>addon().catalogueLanding(this.handle, vector, neighbours));
    }
    isInFlight(attributes) {
        if (this.flight === undefined) return true;
        const found = JSON.parse(attributes);
        const timeOf = (name, none)=>{
            const value = found[name];
            return typeof value === 'number' ? value : none;
        };
        const { begin, end } = this.flight;
        const nowMs = this.nowMs();
        return timeOf(begin, 0) <= nowMs && nowMs < timeOf(end, Number.POSITIVE_INFINITY);
    }
    fly({ begin, end }, nowMs) {
        callNative(()=>addon().catalogueFly(this.handle, begin, end));
        this.nowMs = nowMs;
        this.hasFlights = true;
        this.flight = {
            begin,
            end
        };
    }
    async valueBy(valuations) {
        const words = packed(writeValueRequest, {
            valuations
        });
        await awaitNative(()=>addon().catalogueValue(this.handle, words, words.length));
        this.valuations = valuations;
    }
    compact() {
        return awaitNative(()=>addon().catalogueCompact(this.handle));
    }
    *listItems(reach) {
        const handle = handleOf(reach);
        let first = 0;
        do {
            const at = first;
            const listing = callNative(()=>addon().catalogueList(handle, at, LISTED_AT_ONCE));
            first = listing.next;
            yield listedItems(listing);
        }while (first > 0)
    }
    firstObtainable(reach, itemIds, count) {
        const handle = handleOf(reach);
        return listedItems(callNative(()=>addon().catalogueFirstObtainable(handle, itemIds, count)));
    }
    appraise(reach, itemIds) {
        return callNative(()=>addon().catalogueAppraise(handleOf(reach), itemIds));
    }
    excludedItems(reach) {
        return awaitNative(()=>addon().catalogueExcluded(handleOf(reach)));
    }
    generations() {
        return awaitNative(()=>addon().catalogueVersions(this.handle));
    }
    rollBack(sequence) {
        return awaitNative(()=>addon().catalogueRollBack(this.handle, sequence));
    }
    close() {
        callNative(()=>addon().catalogueClose(this.handle));
    }
}
/** Maps and checks a snapshot file. Rejects with CATALOGUE_NOT_FOUND or CATALOGUE_CORRUPT. */ export async function openCatalogue(path) {
    return new NativeCatalogue(await awaitNative(()=>addon().catalogueOpen(path)));
}
/**
 * Builds a snapshot file off this thread. Rejects with CATALOGUE_INVALID, CATALOGUE_NOT_FOUND or
 * IO_FAILED; the output is untouched then.
 */ export async function buildCatalogue(build, onProgress) {
    return awaitNative(()=>addon().catalogueBuild({
            sources: build.sources.map((source)=>source.path),
            domains: build.sources.map((source)=>source.domain),
            titlesPath: build.titlesPath,
            levelSizes: Uint32Array.from(build.levelSizes),
            outputPath: build.outputPath
        }, onProgress));
}

//# sourceMappingURL=native-catalogue.js.map