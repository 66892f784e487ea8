import { randomBytes } from "node:crypto";
import { Erasures } from "../../../../service/erasure/src/index.js";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { ChildLink, CLOSE_MS, jsonRows, WriteQueue } from "../../../processes/src/index.js";
import { RecallIds, recallFact } from "../domain/recall-facts.js";
import { keepLostRows, takeLostRows } from "./fact-folder.js";
const BATCH_MAX = 512;
const GATHER_MS = 1000;
const MINUTE_MS = 60_000;
/** Milliseconds until a disk that took nothing is tried again. */ const RETRY_MS = 10_000;
/**
 * Facts on their way to the process that writes them (ADR 0149). Rows wait in a bounded queue and
 * are handed over together once a second; no recall waits for them.
 */ export class ChildFactStore {
    options;
    erasures = new Erasures();
    queue;
    link;
    ids = new RecallIds(randomBytes(8).toString('hex'));
    counts = {
        written: 0,
        dropped: 0,
        failed: 0
    };
    fault = '';
    /** Rows that the process has in memory alone. */ waitingRows = 0;
    beat;
    /** Resolves also where the folder cannot be opened, which `onFault` gets: it is tried again. */ static async open(options) {
        const store = new ChildFactStore(options);
        await store.link.start();
        store.count('dropped', await takeLostRows(options.path));
        store.beatIn(MINUTE_MS);
        return store;
    }
    constructor(options){
        this.options = options;
        const { program, onFault, queueMax, fileBytesMax } = options;
        const { path, node, memoryBytes, keepMs, keepBytes } = options;
        const { fileRowsMax, waitingRowsMax, graceMs } = options;
        const kept = {
            path,
            node,
            memoryBytes,
            keepMs,
            keepBytes
        };
        this.link = new ChildLink({
            does: 'writes facts',
            program,
            limits: fileBytesMax === undefined ? {} : {
                fileBytes: fileBytesMax
            },
            options: {
                ...kept,
                fileRowsMax,
                waitingRowsMax,
                graceMs
            },
            onFault: (thrown)=>{
                this.loseWaiting();
                onFault(thrown);
            }
        });
        this.queue = new WriteQueue({
            batchMax: BATCH_MAX,
            gatherMs: GATHER_MS,
            waitingMax: queueMax,
            write: (batch)=>this.handOver(batch),
            onWritten: ()=>undefined,
            onFailed: (count, thrown)=>{
                this.count('failed', count);
                onFault(thrown);
            }
        });
    }
    /** Of the process that writes; undefined while there is none. */ get processId() {
        return this.link.processId;
    }
    /** Folder of the facts. */ get path() {
        return this.options.path;
    }
    offerRecall(recall) {
        const { node } = this.options;
        const id = this.ids.next(recall.timeMs);
        const row = ()=>recallFact(recall, id, node);
        return this.offer('recall_fact', recall.request.userId ?? '', row);
    }
    offerBehaviours(behaviours) {
        for (const behaviour of behaviours){
            const { userId, itemId, action, timeMs, scene, requestId = '', position = 0 } = behaviour;
            this.offer('behaviour', userId, ()=>({
                    time: timeMs,
                    item_id: itemId,
                    action,
                    scene,
                    request_id: requestId,
                    position
                }));
        }
    }
    offerRow(table, row) {
        return this.offer(table, '', ()=>row);
    }
    /** Rows that nobody had room for before they were offered. */ noteDropped(count) {
        this.count('dropped', count);
    }
    applyItems(batch) {
        return this.link.call('applyItems', batch);
    }
    /** All items of a catalogue, page by page. */ async replaceItems(batch, pages) {
        await this.link.call('beginItems');
        for await (const page of pages)await this.link.call('addItems', page);
        await this.link.call('endItems', batch);
    }
    noteVersions(rows) {
        return this.link.call('noteVersions', rows);
    }
    /** All that was offered before is in files, or counted as lost. */ async flush() {
        await Promise.race([
            this.queue.settled(),
            this.link.untilDown()
        ]);
        this.note(await this.link.call('flush', Date.now()));
    }
    /** Merges and deletes files, as happens by itself once a minute. */ tidy(nowMs) {
        return this.link.call('tidy', nowMs);
    }
    /** The pseudonym of a user; undefined: the facts have nothing of them. */ async pseudonym(userId) {
        return this.link.call('find', userId);
    }
    /**
   * Nothing links the facts to the user when it resolves: the key is gone, and rows that wait are
   * written without a user.
   */ async eraseUser(userId) {
        this.erasures.note(userId);
        return this.link.call('forget', userId);
    }
    async state() {
        const { bytes, files, oldestMs, fault } = await this.link.call('sizes');
        const { dropped, failed } = this.counts;
        return {
            bytes,
            files,
            oldestMs,
            fault,
            dropped,
            failed
        };
    }
    /** Cheap; '' where facts are written. */ condition() {
        return this.link.fault || this.fault;
    }
    /** Rows that are in no file when the time is over are counted, by the next start as well. */ async close(budgetMs = CLOSE_MS) {
        clearTimeout(this.beat);
        const failedBefore = this.counts.failed;
        const written = this.queue.close();
        await this.link.close(budgetMs, async ()=>{
            await written;
            this.note(await this.link.call('flush', Date.now()));
        });
        await written;
        const lost = this.counts.failed - failedBefore + this.waitingRows;
        if (lost === 0) return;
        const message = `facts: expected all rows in files at the end, got ${lost} rows lost`;
        this.options.onFault(new TesseraError('DEADLINE_EXCEEDED', message));
        await keepLostRows(this.options.path, lost).catch(this.options.onFault);
    }
    /** A minute after the last; sooner where the disk took nothing. */ beatIn(ms) {
        const write = async ()=>{
            this.note(await this.link.call('flush', Date.now()));
            await this.tidy(Date.now());
        };
        const next = ()=>this.beatIn(this.fault === '' ? MINUTE_MS : RETRY_MS);
        this.beat = setTimeout(()=>void write().catch(this.options.onFault).then(next), ms);
        this.beat.unref();
    }
    note({ fault, waiting }) {
        this.fault = fault;
        this.waitingRows = waiting;
    }
    loseWaiting() {
        this.count('dropped', this.waitingRows);
        this.waitingRows = 0;
    }
    offer(table, userId, row) {
        const isTaken = this.queue.offer({
            table,
            userId,
            mark: this.erasures.mark,
            row
        });
        if (!isTaken) this.count('dropped', 1);
        return isTaken;
    }
    count(outcome, count) {
        if (count === 0) return;
        this.counts[outcome] += count;
        this.options.onFacts(outcome, count);
    }
    async handOver(batch) {
        for (const [table, offered] of Map.groupBy(batch, (one)=>one.table)){
            const numbered = offered.map((one, user)=>({
                    one,
                    user
                }));
            const rows = await jsonRows(numbered, ({ one, user })=>[
                    Object.assign({
                        user
                    }, one.row())
                ]);
            await this.link.untilOpen();
            // Only now, so that nobody is named who was erased while the rows were made.
            const userIds = offered.map(({ userId, mark })=>this.erasures.isErasedSince(userId, mark) ? '' : userId);
            const sent = {
                table,
                rows: rows.text,
                count: offered.length,
                userIds
            };
            const appended = await this.link.call('append', sent);
            this.note(appended);
            const { lost, fault } = appended;
            this.count('written', offered.length - lost);
            this.count('failed', lost);
            if (lost > 0) this.options.onFault(new TesseraError('STORE_FULL', fault));
        }
    }
}

//# sourceMappingURL=child-fact-store.js.map