import { EVERY_ITEM } from "../../../engine/src/index.js";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { ChangeBatch } from "./domain/change-batch.js";
import { changesBackTo, stepOf } from "./domain/changes-back-to.js";
import { ItemStates } from "./domain/item-states.js";
import { neighboursOf } from "./domain/landing.js";
import { vectorOf, withVectors } from "./domain/semantic-ids.js";
import { WriteGate } from "./domain/write-gate.js";
import { ImportMarks } from "./outside/import-marks.js";
/**
 * Of the snapshot, for each change that it waits for. A compaction costs a time per item, so that
 * this fixes which share of the time is spent on compactions at a rate of changes, whatever the
 * catalogue's size (docs/concepts/live-catalogue.md).
 */ const ITEMS_PER_CHANGE = 8;
export const CHANGES_NOT_KEPT = {
    folder: '',
    sync: 'never',
    levelSizes: [],
    compactAfterChanges: 0,
    onCompacted: ()=>undefined
};
/** The changes of an open catalogue, and the compaction that follows when they have become many. */ export class CatalogueChanges {
    catalogue;
    options;
    compaction;
    tell = ()=>undefined;
    /** Milliseconds since 1970 of the last change since it was opened; of the opening without one. */ changedMs;
    /** Undefined: changes are applied as they come. */ order;
    gate = new WriteGate();
    imports;
    items;
    constructor(catalogue, options){
        this.catalogue = catalogue;
        this.options = options;
        this.imports = options.imports ?? ImportMarks.unkept();
        this.changedMs = this.nowMs();
        this.items = new ItemStates(catalogue);
    }
    /** From now on the listener gets what is applied, in place of the listener before. */ follow(tell) {
        this.tell = tell;
    }
    /** From now on somebody else orders changes, and gives them to perform() in that order. */ orderBy(order) {
        this.order = order;
    }
    /**
   * All or none; resolves with what they came to when they are kept and visible.
   * @param source through which edge, or from whom; '' where that is not known
   * @throws TesseraError CATALOGUE_INVALID or ITEM_NOT_FOUND with the field, STORE_FULL or
   * STORE_UNAVAILABLE
   */ apply(changes, source = '', how = {}) {
        return this.applyBatch(ChangeBatch.of(changes), source, how);
    }
    /**
   * The same, after which the items are those of a bundle.
   * @throws TesseraError CATALOGUE_INVALID also where they are not those of the bundle it follows
   */ applyBundle(batch, bundle, source = '', how = {}) {
        return this.ordered(batch, {
            source,
            bundle
        }, how);
    }
    /** Of the bundle that the items are those of, with the changes since; '' where of none. */ get bundleUuid() {
        return this.options.bundle?.uuid ?? '';
    }
    /** Of the snapshot that the sources make. */ get seedDigest() {
        return this.catalogue.summary.digest;
    }
    /** Where changes are kept; '' for nowhere. */ get folder() {
        return this.options.folder;
    }
    get levelSizes() {
        return this.catalogue.summary.levelSizes;
    }
    /** Every item of the newest version, some at a time. */ async listItems() {
        const reach = await this.catalogue.reach(EVERY_ITEM);
        return {
            sequence: reach.sequence,
            pages: this.catalogue.listItems(reach)
        };
    }
    /** The same for changes that arrived in several messages. */ applyBatch(batch, source = '', how = {}) {
        return this.ordered(batch, {
            source
        }, how);
    }
    /** Records of a topic, no item of which is named twice; all or none. */ applyRecords(records, source, { refusedAt, onEntry } = {}) {
        const batch = new ChangeBatch();
        for (const { changes } of records)batch.add(changes);
        const recordIds = records.map(({ id })=>id);
        return this.ordered(batch, {
            source,
            recordIds,
            refusedAt
        }, {
            onEntry
        });
    }
    /**
   * A batch of an import, which counts once, however often it is sent.
   * @throws TesseraError as apply()
   */ applyImport(batch, importMark, source = '', how = {}) {
        return this.ordered(batch, {
            source,
            importMark
        }, how);
    }
    async ordered(batch, more, how) {
        const { order } = this;
        const { key = '' } = how;
        // A log knows keys by itself; without one a key is that of an import of one batch.
        const keyed = order === undefined && key !== '' ? {
            name: key,
            position: 0
        } : undefined;
        const importMark = more.importMark ?? keyed;
        if (importMark !== undefined && this.imports.has(importMark)) return this.nothingAgain();
        const messages = await withVectors(this.options.semanticIds, batch.messages);
        const changes = {
            messages,
            ops: batch.ops,
            told: batch.told,
            ...more,
            importMark
        };
        return order === undefined ? this.perform(changes) : order(changes, how);
    }
    /**
   * Applies what has its place in the order, here.
   * @param mark kept with it, in one commit; '': none
   * @throws TesseraError as apply()
   */ async perform(ordered, mark = '') {
        const { messages, importMark, bundle, onto } = ordered;
        if (bundle !== undefined) this.checkFollows(bundle);
        if (onto !== undefined) this.checkOnto(onto);
        const apply = ()=>this.catalogue.apply(messages, mark);
        const applied = await this.written(importMark, bundle, apply);
        if (applied === undefined) return this.nothingAgain();
        return {
            ...this.reported(ordered, applied),
            alreadyApplied: false
        };
    }
    /** Keeps a mark alone. Rejects with STORE_FULL, STORE_UNAVAILABLE. */ async note(mark) {
        await this.catalogue.apply([
            []
        ], mark);
    }
    /** Undefined: the batch has been applied before. */ written(mark, step, apply) {
        const settled = async ()=>{
            await this.imports.settle();
            await this.options.bundle?.settle();
        };
        if (mark === undefined && step === undefined) {
            return this.gate.together(async ()=>{
                await settled();
                return apply();
            });
        }
        return this.gate.byItself(async ()=>{
            if (mark !== undefined && this.imports.has(mark)) return undefined;
            await settled();
            const { sequence } = this.catalogue.state();
            if (mark !== undefined) return this.imports.applying(mark, sequence, apply);
            const { becomes } = step;
            return this.options.bundle?.becoming(becomes, sequence, apply) ?? apply();
        });
    }
    checkFollows({ follows }) {
        if (follows === '' || follows === this.bundleUuid) return;
        const at = this.bundleUuid === '' ? 'of no bundle' : `those of bundle ${this.bundleUuid}`;
        const message = `bundle.follows: the items are ${at}, the delta follows ${follows}`;
        throw new TesseraError('CATALOGUE_INVALID', message, {
            field: 'bundle.follows'
        });
    }
    checkOnto(onto) {
        const { sequence } = this.catalogue.state();
        if (sequence === onto) return;
        const message = `sequence: expected version ${onto} still, got ${sequence}: ask again`;
        throw new TesseraError('CATALOGUE_INVALID', message, {
            field: 'sequence'
        });
    }
    nothingAgain() {
        const { sequence } = this.catalogue.state();
        const placed = {
            offsets: Uint32Array.of(0),
            codes: new Uint32Array()
        };
        return {
            sequence,
            changeCount: 0,
            matched: new Uint32Array(),
            placed,
            alreadyApplied: true
        };
    }
    /** Listeners hear of what was applied. */ reported(ordered, applied) {
        const { sequence, changeCount } = applied;
        const { ops, told, messages, source } = ordered;
        if (changeCount > 0) {
            this.changedMs = this.nowMs();
            this.tell({
                sequence,
                changeCount,
                ops,
                told,
                messages,
                source
            });
        }
        this.compactWhereDue();
        return applied;
    }
    /** How texts become semantic IDs, for people to read; '' where there are no codebooks. */ get textsBy() {
        const { semanticIds } = this.options;
        if (semanticIds === undefined) return '';
        return semanticIds.embedder?.name ?? 'none: the codebooks say nothing of texts';
    }
    /**
   * Where a vector or text would go in the newest version, and live items near; changes nothing.
   * @throws TesseraError CATALOGUE_INVALID with the field
   */ async landing(source, neighbours) {
        const { semanticIds } = this.options;
        const vector = await vectorOf(semanticIds, source, '');
        const landing = await this.catalogue.landing(vector, neighbours);
        const { codes, distances, sid, sequence } = landing;
        return {
            codes: [
                ...codes
            ],
            distances: [
                ...distances
            ],
            sid: [
                ...sid
            ],
            neighbours: neighboursOf(landing),
            codebooks: semanticIds?.digest ?? '',
            sequence
        };
    }
    /** Why changes are not taken now; '' where they are. Cheap. */ whyNotWritten() {
        return this.catalogue.whyNotWritten();
    }
    /** Goes on taking changes where that had ended. Rejects with STORE_FULL, STORE_UNAVAILABLE. */ recoverWriting() {
        return this.catalogue.recoverWriting();
    }
    nowMs() {
        return (this.options.nowMs ?? Date.now)();
    }
    state() {
        return this.catalogue.state();
    }
    generations() {
        return this.catalogue.generations();
    }
    compact() {
        return this.catalogue.compact();
    }
    /** Makes the items what they were. In a cluster as changes, which have numbers of their own. */ async rollBack(to, source = '', how = {}) {
        const ops = {
            roll_back: 1
        };
        if (this.order !== undefined) {
            const { batches, onto } = await changesBackTo(this.catalogue, to);
            let newest = onto;
            for (const messages of batches){
                const changes = {
                    messages,
                    onto: newest,
                    ops,
                    told: [],
                    source
                };
                newest = (await this.order(changes, stepOf(how, newest))).sequence;
            }
            return newest;
        }
        const sequence = await this.gate.together(async ()=>{
            await this.imports.settle();
            return this.catalogue.rollBack(to);
        });
        this.tell({
            sequence,
            changeCount: 1,
            ops,
            told: [],
            messages: [],
            source
        });
        return sequence;
    }
    /** Digest of the items of the newest version, and the newest mark. */ digest() {
        return this.catalogue.digest();
    }
    /** Resolves when no compaction of its own accord runs. */ async settled() {
        await this.compaction;
    }
    compactWhereDue() {
        const { compactAfterChanges, onCompacted } = this.options;
        if (compactAfterChanges === 0 || this.compaction !== undefined) return;
        const { changesSinceSnapshot, snapshotItemCount } = this.catalogue.state();
        const due = Math.max(compactAfterChanges, snapshotItemCount / ITEMS_PER_CHANGE);
        if (changesSinceSnapshot < due) return;
        this.compaction = this.catalogue.compact().then(()=>onCompacted(undefined), (thrown)=>onCompacted(TesseraError.from(thrown))).finally(()=>{
            this.compaction = undefined;
        });
    }
}

//# sourceMappingURL=catalogue-changes.js.map