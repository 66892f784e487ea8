import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { receivedError } from "../../../processes/src/index.js";
import { Slots } from "./slots.js";
import { Spares } from "./spares.js";
export const SQL_LENGTH_MAX = 20_000;
const REMOVALS_MAX = 5;
/**
 * Queries of analysts, each in a process of its own that the kernel bounds and that is killed: when
 * its time is over, when nobody wants its answer, or when a user is erased whose data it may hold.
 */ export class Queries {
    parts;
    running = new Set();
    spares;
    pages;
    people;
    isClosed = false;
    constructor(parts){
        this.parts = parts;
        const { pagesMax, sqlMax, waitMs } = parts.rules;
        this.spares = new Spares(parts);
        this.pages = new Slots({
            countMax: pagesMax,
            ownMax: pagesMax,
            waitMs
        });
        this.people = new Slots({
            countMax: sqlMax,
            ownMax: Math.max(1, sqlMax - 1),
            waitMs
        });
    }
    /** How many run, or have files that are kept. */ get count() {
        return this.running.size;
    }
    /**
   * The answer as JSON of a QueryResult. Rejects with REQUEST_INVALID, DEADLINE_EXCEEDED,
   * QUERY_TOO_LARGE, OPERATION_BUSY, CANCELLED, STORE_UNAVAILABLE or STORE_FULL.
   */ async query(sql, limits, signal) {
        return this.answerOf({
            statements: [
                sql
            ],
            form: 'json',
            isOwn: false
        }, limits, signal);
    }
    /** The rows of statements of the service itself, as JSON. Rejects as query() does. */ rows(statements, limits, signal) {
        return this.answerOf({
            statements,
            form: 'rows',
            isOwn: true
        }, limits, signal);
    }
    async answerOf(asked, limits, signal) {
        const { query, leave } = await this.begin(asked, limits, signal);
        try {
            const reply = await query.answered;
            if (reply.kind === 'answered') return reply.json;
            throw new TesseraError('INTERNAL', `expected an answer, got ${reply.kind}`);
        } finally{
            await this.end(query);
            leave();
        }
    }
    /** The rows as a file, which is kept until it is released. Rejects as query() does. */ async exportTo(sql, format, limits, signal) {
        const asked = {
            statements: [
                sql
            ],
            form: format,
            isOwn: false
        };
        const { query, leave } = await this.begin(asked, limits, signal);
        try {
            const reply = await query.answered;
            if (reply.kind !== 'exported') {
                throw new TesseraError('INTERNAL', `expected a file, got ${reply.kind}`);
            }
            return {
                path: reply.path,
                ended: query.ended,
                release: ()=>this.end(query)
            };
        } catch (thrown) {
            await this.end(query);
            throw thrown;
        } finally{
            leave();
        }
    }
    /** Ends all, and takes no more. */ close() {
        this.isClosed = true;
        this.spares.close();
        this.endAll('the service is being closed');
    }
    /** Ends all that run, with an error that asks to come again. */ endAll(reason) {
        this.spares.end();
        const message = `sql: ${reason}; ask again`;
        for (const query of this.running){
            query.stop(new TesseraError('STORE_UNAVAILABLE', message, {
                field: 'sql'
            }));
        }
    }
    async begin(asked, limits, signal) {
        const [sql = ''] = asked.statements;
        if (!asked.isOwn && sql.length > SQL_LENGTH_MAX) {
            const message = `sql: expected at most ${SQL_LENGTH_MAX} characters, got ${sql.length}`;
            throw new TesseraError('REQUEST_INVALID', message, {
                field: 'sql'
            });
        }
        const { rowsMax, timeoutMs, asker } = limits;
        const wanted = Object.assign({
            askedMs: Date.now(),
            rowsMax,
            timeoutMs
        }, asked);
        const leave = asker === undefined ? await this.pages.take('', signal) : await this.people.take(asker, signal);
        try {
            if (this.isClosed) throw closed();
            const query = new RunningQuery(this.parts, this.spares, wanted, signal);
            this.running.add(query);
            return {
                query,
                leave
            };
        } catch (thrown) {
            leave();
            throw thrown;
        }
    }
    async end(query) {
        await query.removed().catch(this.parts.onFault);
        this.running.delete(query);
        this.spares.prepare();
    }
}
let RunningQuery = class RunningQuery {
    parts;
    spares;
    wanted;
    signal;
    answered;
    /** Aborted when the query must end, also while its file is read. */ ending = new AbortController();
    process;
    child;
    /** It has answered, and nothing of the query is left in it. */ isDone = false;
    late;
    folder;
    settle;
    constructor(parts, spares, wanted, signal){
        this.parts = parts;
        this.spares = spares;
        this.wanted = wanted;
        this.signal = signal;
        this.settle = {
            resolve: ()=>undefined,
            reject: ()=>undefined
        };
        this.answered = new Promise((resolve, reject)=>{
            this.settle = {
                resolve,
                reject
            };
        });
        // It may be rejected before somebody looks.
        this.answered.catch(()=>undefined);
        this.process = spares.take();
        this.child = this.process.serve({
            onMessage: (reply)=>void this.take(reply),
            onEnd: (reason)=>this.settle.reject(this.vanished(reason)),
            onLost: (error)=>this.stop(error)
        });
        const waitMs = Math.max(parts.rules.waitMs, wanted.timeoutMs);
        this.late = setTimeout(()=>this.stop(lateness('a process and its data', waitMs)), waitMs);
        signal?.addEventListener('abort', this.onAbort, {
            once: true
        });
        if (signal?.aborted === true) this.onAbort();
        const { answerBytesMax, memoryBytes, diskBytes } = parts.rules;
        const { statements, isOwn, askedMs, form, rowsMax } = wanted;
        const asked = {
            statements,
            isOwn,
            askedMs,
            form,
            rowsMax
        };
        this.order(Object.assign({
            kind: 'ask',
            answerBytesMax,
            memoryBytes,
            diskBytes
        }, asked));
    }
    get ended() {
        return this.ending.signal;
    }
    /** Killed, not asked. */ stop(error) {
        this.settle.reject(error);
        this.ending.abort(error);
        this.child.kill();
    }
    /** Its process has gone, and its folder with it. */ async removed() {
        clearTimeout(this.late);
        this.signal?.removeEventListener('abort', this.onAbort);
        const isKept = this.isDone && !this.ending.signal.aborted && this.spares.giveBack(this.process);
        if (!isKept) {
            this.child.kill();
            await this.child.exited;
        }
        const folder = await this.folder?.catch(()=>undefined);
        // One whose launcher ended is perhaps still ending itself, and writes until then.
        const removal = {
            recursive: true,
            force: true,
            maxRetries: REMOVALS_MAX
        };
        if (folder !== undefined) await rm(folder, removal);
    }
    onAbort = ()=>{
        this.stop(new TesseraError('CANCELLED', 'sql: the caller went away', {
            field: 'sql'
        }));
    };
    async take(reply) {
        switch(reply.kind){
            case 'refused':
                this.isDone = reply.error.code === 'REQUEST_INVALID';
                this.settle.reject(receivedError(reply.error));
                return;
            case 'allowed':
                await this.hand(reply.tables);
                return;
            default:
                clearTimeout(this.late);
                this.isDone = true;
                this.settle.resolve(reply);
        }
    }
    /** Only now is there anything to read. A copy is made for those that read the database. */ async hand(tables) {
        if (this.ending.signal.aborted) return;
        const { snapshot, folder, tables: stored, facts } = this.parts;
        const isCopied = tables.some((table)=>stored.has(table));
        const database = isCopied ? snapshot() : Promise.resolve('');
        this.folder = isCopied ? database.then(dirname) : folder();
        try {
            const data = {
                folder: await this.folder,
                database: await database,
                facts
            };
            // Only now does the work begin: the time for it does not count what came before.
            clearTimeout(this.late);
            const { timeoutMs } = this.wanted;
            if (this.ending.signal.aborted) return;
            this.late = setTimeout(()=>this.stop(lateness('an answer', timeoutMs)), timeoutMs);
            this.order(Object.assign({
                kind: 'data'
            }, data));
        } catch (thrown) {
            this.settle.reject(thrown);
        }
    }
    order(order) {
        this.child.send(order);
    }
    vanished(reason) {
        const { memoryBytes } = this.parts.rules;
        const message = `sql: expected a query that takes at most ${memoryBytes} bytes of memory, got one whose ` + `process ended${reason === '' ? '' : `: ${reason}`}`;
        return new TesseraError('QUERY_TOO_LARGE', message, {
            field: 'sql'
        });
    }
};
const closed = ()=>new TesseraError('STORE_UNAVAILABLE', 'sql: the service is being closed');
function lateness(what, timeoutMs) {
    const message = `sql: expected ${what} within ${timeoutMs} ms, got none`;
    return new TesseraError('DEADLINE_EXCEEDED', message, {
        field: 'sql'
    });
}

//# sourceMappingURL=queries.js.map