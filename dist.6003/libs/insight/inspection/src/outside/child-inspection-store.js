import { Erasures } from "../../../../service/erasure/src/index.js";
import { ChildLink, CLOSE_MS, jsonRows, WriteQueue } from "../../../processes/src/index.js";
import { InspectionStore } from "../domain/inspection-store.js";
import { Launcher } from "../process/launcher.js";
import { Queries } from "../process/queries.js";
import { changeRow } from "./change-rows.js";
import { itemRows, recallRow, TABLE_NAMES } from "./duckdb-tables.js";
import { queryFolder } from "./snapshots.js";
/**
 * Of recalls that are written at once: one transaction, one statement per table. A transaction
 * costs as much as some fifty recalls in it, so they wait for each other, unless somebody looks.
 * They are one message to the other process, which holds this one's thread for some 2 ms.
 */ const BATCH_MAX = 128;
const GATHER_MS = 1000;
const PULSES_WAITING_MAX = 100;
const CHANGES_WAITING_MAX = 1000;
/** Processes that may end over one batch before it is given up. */ const ATTEMPTS_MAX = 3;
/**
 * Recorded recalls in a process of their own, and queries in one for each (ADR 0070): whatever they
 * do, this process goes on. While the one that records is away, recalls wait in the bounded queue.
 */ export class ChildInspectionStore extends InspectionStore {
    options;
    shelf;
    erasures = new Erasures();
    listeners = [];
    recallQueue;
    pulseQueue;
    changeQueue;
    launcher;
    queries;
    link;
    counts = {
        written: 0,
        dropped: 0,
        failed: 0
    };
    /**
   * Resolves also where the store cannot be opened, which `onFault` gets and condition() says:
   * it is tried again.
   */ static async open(options) {
        const store = new ChildInspectionStore(options);
        store.launcher.open();
        await store.link.start();
        return store;
    }
    constructor(options){
        super(), this.options = options;
        const { program, niceness, queries: rules, facts, onFault } = options;
        const { path, memoryBytes, retention } = options;
        this.link = new ChildLink({
            does: 'records recalls',
            program: [
                program,
                'recorder',
                String(niceness.recorder)
            ],
            options: {
                path,
                memoryBytes,
                retention
            },
            onFault
        });
        this.launcher = new Launcher([
            program,
            'launcher',
            String(niceness.recorder)
        ]);
        this.queries = new Queries({
            launcher: this.launcher,
            program: [
                program,
                'query',
                String(niceness.query)
            ],
            rules,
            snapshot: ()=>this.snapshot(),
            folder: ()=>queryFolder(path),
            tables: TABLE_NAMES,
            facts,
            onFault
        });
        this.shelf = shelfOver(this.link);
        const gathering = {
            batchMax: BATCH_MAX,
            gatherMs: GATHER_MS,
            onWritten: ()=>undefined,
            onFailed: (_count, thrown)=>onFault(thrown)
        };
        this.recallQueue = new WriteQueue({
            ...gathering,
            waitingMax: options.queueMax,
            write: (batch)=>this.writeRecalls(batch),
            onFailed: (count, thrown)=>{
                this.count('failed', count);
                onFault(thrown);
            }
        });
        this.pulseQueue = new WriteQueue({
            ...gathering,
            waitingMax: PULSES_WAITING_MAX,
            write: (batch)=>this.writePulses(batch)
        });
        this.changeQueue = new WriteQueue({
            ...gathering,
            waitingMax: CHANGES_WAITING_MAX,
            write: (batch)=>this.writeChanges(batch)
        });
    }
    /** Of the process that records; undefined while there is none. */ get recorderProcessId() {
        return this.link.processId;
    }
    /** Of the process that starts those of queries; undefined while there is none. */ get launcherProcessId() {
        return this.launcher.processId;
    }
    /** Queries that run, or whose files are being read. */ get queryCount() {
        return this.queries.count;
    }
    offer(recall) {
        const isTaken = this.recallQueue.offer({
            recall,
            mark: this.erasures.mark
        });
        if (!isTaken) this.count('dropped', 1);
        return isTaken;
    }
    offerPulse(pulse) {
        return this.pulseQueue.offer(pulse);
    }
    offerChange(change) {
        return this.changeQueue.offer(change);
    }
    /** Does not wait for a process that is away. */ async settled() {
        const { recallQueue, pulseQueue, changeQueue } = this;
        const written = [
            recallQueue.settled(),
            pulseQueue.settled(),
            changeQueue.settled()
        ];
        await Promise.race([
            Promise.all(written),
            this.link.untilDown()
        ]);
    }
    recalls(filter) {
        return this.link.call('recalls', filter);
    }
    recall(id) {
        return this.link.call('recall', id);
    }
    changes(limit) {
        return this.link.call('changes', limit);
    }
    pulses(fromMs) {
        return this.link.call('pulses', fromMs);
    }
    query(sql, limits, signal) {
        return this.queries.query(sql, limits, signal);
    }
    rows(statements, limits, signal) {
        return this.queries.rows(statements, limits, signal);
    }
    exportTo(sql, format, limits, signal) {
        return this.queries.exportTo(sql, format, limits, signal);
    }
    async eraseUser(userId) {
        await this.settled();
        // From here on nothing that was offered before is sent; what has been is written before this.
        this.erasures.note(userId);
        for (const listener of this.listeners)listener(userId);
        const count = await this.link.call('eraseUser', userId);
        this.queries.endAll('a user was erased whose data the query may hold');
        return count;
    }
    onErasure(listener) {
        this.listeners.push(listener);
    }
    async state() {
        const sizes = await this.link.call('sizes');
        return {
            ...sizes,
            queued: this.recallQueue.length,
            ...this.counts
        };
    }
    condition() {
        const reason = this.link.fault;
        return reason === '' ? {
            state: 'ok',
            reason
        } : {
            state: 'down',
            reason
        };
    }
    /** Removes what is too old or too much; by itself once a minute. */ retain(nowMs) {
        return this.link.call('retain', nowMs);
    }
    /** Gives up, says and counts as failed all that is not written when the time is over. */ async close(budgetMs = CLOSE_MS) {
        this.queries.close();
        this.launcher.close();
        const { recallQueue, pulseQueue, changeQueue } = this;
        const closed = [
            recallQueue.close(),
            pulseQueue.close(),
            changeQueue.close()
        ];
        const written = Promise.all(closed);
        await this.link.close(budgetMs, ()=>written);
        await written;
    }
    /**
   * With all that was offered before, which is written at once for it: asked for only by queries
   * that are allowed, so that those that are refused write nothing.
   */ async snapshot() {
        await this.settled();
        return this.link.call('snapshot');
    }
    count(outcome, count) {
        if (count === 0) return;
        this.counts[outcome] += count;
        this.options.onRecords(outcome, count);
    }
    /** Again where the process ended meanwhile: it may have written them, or not. */ async writeRecalls(batch) {
        for(let attempt = 1;; attempt++){
            await this.link.untilOpen();
            const { kept, recalls, items } = await this.readied(batch);
            const [first] = kept;
            try {
                if (first !== undefined) {
                    const firstId = first.recall.id;
                    const made = {
                        recalls: recalls.text,
                        items: items.text,
                        itemCount: items.count
                    };
                    const sent = {
                        ...made,
                        firstId,
                        isRepeat: attempt > 1
                    };
                    await this.link.call('writeRecalls', sent);
                }
                this.count('written', kept.length);
                this.count('dropped', batch.length - kept.length);
                return;
            } catch (thrown) {
                if (attempt === ATTEMPTS_MAX || this.link.isOpen) throw thrown;
            }
        }
    }
    /** Of the recalls those whose users are still there when the rows are. */ async readied(batch) {
        const isKept = ({ recall, mark })=>!this.erasures.isErasedSince(recall.request.userId, mark);
        for(;;){
            const kept = batch.filter(isKept);
            const recalls = await jsonRows(kept, ({ recall })=>[
                    recallRow(recall)
                ]);
            const items = await jsonRows(kept, ({ recall })=>itemRows(recall));
            if (kept.every(isKept)) return {
                kept,
                recalls,
                items
            };
        }
    }
    async writePulses(batch) {
        const rows = batch.map((pulse)=>({
                time: pulse.timeMs,
                detail: JSON.stringify(pulse)
            }));
        await this.link.untilOpen();
        await this.link.call('writePulses', JSON.stringify(rows));
    }
    async writeChanges(batch) {
        await this.link.untilOpen();
        await this.link.call('writeChanges', JSON.stringify(batch.map(changeRow)));
    }
}
/** Work of analysts lies with the recalls. */ function shelfOver(link) {
    const call = (name, ...values)=>link.callNamed(`shelf.${name}`, values);
    return {
        notes: (recallId)=>call('notes', recallId),
        addNote: (note)=>call('addNote', note),
        removeNote: (id)=>call('removeNote', id),
        savedSets: ()=>call('savedSets'),
        saveSet: (set)=>call('saveSet', set),
        removeSet: (name)=>call('removeSet', name),
        comparisons: ()=>call('comparisons'),
        comparison: (id)=>call('comparison', id),
        saveComparison: (comparison)=>call('saveComparison', comparison),
        removeComparison: (id)=>call('removeComparison', id)
    };
}

//# sourceMappingURL=child-inspection-store.js.map