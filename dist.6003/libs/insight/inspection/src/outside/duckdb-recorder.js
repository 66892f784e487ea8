import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { FILE_SYSTEM, replaceFile } from "../../../../ops/files/src/index.js";
import { SpacedWork } from "../../../../ops/turns/src/index.js";
import { MEBIBYTE } from "../../../../ops/units/src/index.js";
import { expiryMs } from "../domain/retention.js";
import { AnalystShelf } from "./analyst-shelf.js";
import { CHANGE_COLUMNS, changeFrom } from "./change-rows.js";
import { INSERT_CHANGES, INSERT_ITEMS, INSERT_PULSES, INSERT_RECALLS, TABLE_DEFINITIONS } from "./duckdb-tables.js";
import { ITEM_COLUMNS, recordedFrom, SUMMARY_COLUMNS, summaryFrom, summaryWhere } from "./recall-rows.js";
import { clearRewrite, rewriteDatabase } from "./rewrite-database.js";
import { Snapshots } from "./snapshots.js";
const DATABASE_FILE = 'inspection.duckdb';
/** There while the database's file may hold bytes of who was erased; it names nobody. */ const REWRITE_FILE = 'inspection.rewrite';
const SPILLED_FOLDER = 'spilled';
/** Bytes of the log of the database from which on it is taken into the database itself. */ const LOG_BYTES_MAX = 16 * MEBIBYTE;
/** Rows from which on the database may write beside its log before a commit: a row group less. */ const LARGE_BATCH_ROWS = 100_000;
/** Opened so that it reaches no file beside its own; nothing can change that. */ async function openInstance({ path, memoryBytes }) {
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const instance = await DuckDBInstance.create(join(path, DATABASE_FILE), {
        // The engine has the cores: the store takes its time.
        threads: '1',
        memory_limit: `${Math.max(1, Math.floor(memoryBytes / MEBIBYTE))}MiB`,
        temp_directory: join(path, SPILLED_FOLDER),
        // Extensions that are not built in would be downloaded.
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false'
    });
    const connection = await instance.connect();
    // When the log is taken in is decided here: not while a snapshot is copied.
    await connection.run("SET wal_autocheckpoint = '1TB'");
    await connection.run('SET enable_external_access = false');
    await connection.run('SET lock_configuration = true');
    for (const definition of TABLE_DEFINITIONS)await connection.run(definition);
    return {
        instance,
        connection
    };
}
/**
 * Recorded recalls in a DuckDB of this process, which alone writes them. Its methods reject with
 * IO_FAILED; statements run one after the other.
 */ export class DuckDbRecorder {
    options;
    instance;
    connection;
    shelf;
    snapshots;
    /** Statements of the connection, one after the other: a transaction is one's own. */ turn = Promise.resolve();
    rewrites;
    /** False: the next statement opens it. */ isOpen = true;
    /** Rejects with STORE_UNAVAILABLE where another process has it or it cannot be read. */ static async open(options, onFault = ()=>undefined) {
        try {
            await mkdir(options.path, {
                recursive: true
            });
            await clearRewrite(join(options.path, DATABASE_FILE));
            await FILE_SYSTEM.remove(join(options.path, SPILLED_FOLDER));
            const { instance, connection } = await openInstance(options);
            const recorder = new DuckDbRecorder(options, instance, connection, onFault);
            await recorder.snapshots.clear();
            const left = await FILE_SYSTEM.list(options.path);
            if (left.includes(REWRITE_FILE)) recorder.rewrites.due();
            return recorder;
        } catch (cause) {
            const reason = cause instanceof Error ? cause.message : String(cause);
            const message = `inspection.path: expected a store that can be opened, got: ${reason}`;
            throw new TesseraError('STORE_UNAVAILABLE', message, {
                field: 'inspection.path',
                cause
            });
        }
    }
    constructor(options, instance, connection, onFault){
        this.options = options;
        this.instance = instance;
        this.connection = connection;
        this.rewrites = new SpacedWork({
            work: ()=>this.rewrite(),
            onFault
        });
        this.shelf = new AnalystShelf((sql, values)=>this.rows(sql, values));
        this.snapshots = new Snapshots({
            folder: options.path,
            databaseFile: DATABASE_FILE,
            inTurn: (act)=>this.inTurn(act)
        });
    }
    async writeRecalls(batch) {
        const { recalls, items, itemCount, firstId, isRepeat } = batch;
        const isThere = 'SELECT id FROM recalls WHERE id = $1';
        // A batch is one transaction: all of it is there, or nothing.
        if (isRepeat && (await this.rows(isThere, [
            firstId
        ])).length > 0) return;
        await this.inTransaction(async ()=>{
            await this.connection.run(INSERT_RECALLS, [
                recalls
            ]);
            await this.connection.run(INSERT_ITEMS, [
                items
            ]);
        });
        if (itemCount >= LARGE_BATCH_ROWS) this.snapshots.outdate();
        await this.takeLogIn();
    }
    async writePulses(rows) {
        await this.rows(INSERT_PULSES, [
            rows
        ]);
    }
    async writeChanges(rows) {
        await this.rows(INSERT_CHANGES, [
            rows
        ]);
    }
    async recalls(filter) {
        const { where, values } = summaryWhere(filter);
        const sql = `SELECT ${SUMMARY_COLUMNS} FROM recalls ${where} ORDER BY time DESC, id DESC`;
        const rows = await this.rows(`${sql} LIMIT ${Math.trunc(filter.limit)}`, values);
        return rows.map(summaryFrom);
    }
    async recall(id) {
        const [row] = await this.rows(`SELECT ${SUMMARY_COLUMNS}, message, detail, to_base64(tree) AS tree FROM recalls ` + 'WHERE id = $1', [
            id
        ]);
        if (row === undefined) return undefined;
        const items = await this.rows(`SELECT ${ITEM_COLUMNS} FROM items ` + 'WHERE time = make_timestamp_ms($2::DOUBLE::BIGINT) AND recall = $1 ORDER BY rank', [
            id,
            Number(row.time_ms)
        ]);
        return recordedFrom(row, items);
    }
    async changes(limit) {
        const sql = `SELECT ${CHANGE_COLUMNS} FROM changes ORDER BY time DESC, sequence DESC`;
        return (await this.rows(`${sql} LIMIT ${Math.trunc(limit)}`)).map(changeFrom);
    }
    async pulses(fromMs) {
        const rows = await this.rows('SELECT detail FROM pulses WHERE time >= make_timestamp_ms($1::DOUBLE::BIGINT) ORDER BY time', [
            fromMs
        ]);
        return rows.map((row)=>JSON.parse(String(row.detail)));
    }
    /**
   * Forgets the recalls of a user, with what analysts have put to them; how many there were. Their
   * bytes leave the file soon behind it, those of many users in one go.
   */ async eraseUser(userId) {
        const count = await this.deleteUser(userId);
        this.rewrites.due();
        return count;
    }
    /** No byte of who was erased before is left in the database's file; others wait meanwhile. */ erasedBytesGone() {
        return this.rewrites.done();
    }
    deleteUser(userId) {
        const ofUser = '(SELECT id FROM recalls WHERE user_id = $1)';
        const compared = '(SELECT id FROM comparisons WHERE list_contains(users, $1))';
        const mark = join(this.options.path, REWRITE_FILE);
        return this.inTransaction(async ()=>{
            const { connection } = this;
            await replaceFile(FILE_SYSTEM, mark, '', 'inspection.path: an erasure');
            await connection.run(`DELETE FROM items WHERE recall IN ${ofUser}`, [
                userId
            ]);
            await connection.run(`DELETE FROM notes WHERE recall IN ${ofUser}`, [
                userId
            ]);
            await connection.run(`DELETE FROM notes WHERE recall IN ${compared}`, [
                userId
            ]);
            await connection.run('DELETE FROM comparisons WHERE list_contains(users, $1)', [
                userId
            ]);
            const gone = await connection.run('DELETE FROM recalls WHERE user_id = $1', [
                userId
            ]);
            return gone.rowsChanged;
        });
    }
    async sizes() {
        const [sizes] = await this.rows('SELECT (SELECT count(*) FROM recalls)::DOUBLE AS recalls, ' + '(SELECT count(*) FROM items)::DOUBLE AS items, ' + '(SELECT coalesce(epoch_ms(min(time)), 0) FROM recalls)::DOUBLE AS oldest, ' + '(SELECT coalesce(epoch_ms(max(time)), 0) FROM recalls)::DOUBLE AS newest, ' + '(SELECT sum(used_blocks * block_size) FROM pragma_database_size())::DOUBLE AS used');
        return {
            recalls: Number(sizes?.recalls),
            items: Number(sizes?.items),
            usedBytes: Number(sizes?.used),
            oldestMs: Number(sizes?.oldest),
            newestMs: Number(sizes?.newest)
        };
    }
    /** Removes what is too old or too much. */ async retain(nowMs) {
        const expiry = expiryMs(this.options.retention, await this.sizes(), nowMs);
        const agedOut = nowMs - this.options.retention.ageMsMax;
        await this.inTransaction(async ()=>{
            const before = 'time < make_timestamp_ms($1::DOUBLE::BIGINT)';
            await this.connection.run(`DELETE FROM pulses WHERE ${before}`, [
                agedOut
            ]);
            await this.connection.run(`DELETE FROM changes WHERE ${before}`, [
                agedOut
            ]);
            if (expiry === undefined) return;
            await this.connection.run(`DELETE FROM items WHERE ${before}`, [
                expiry
            ]);
            await this.connection.run(`DELETE FROM recalls WHERE ${before}`, [
                expiry
            ]);
        });
        if (expiry !== undefined) await this.checkpoint();
    }
    /**
   * A copy of the database as it is now, which is the caller's to read and to remove.
   * Rejects with STORE_FULL where the disk has no room for it.
   */ snapshot() {
        return this.snapshots.take();
    }
    /** A rewriting that is due is the next process's: it may take long. */ async close() {
        await this.rewrites.close();
        await this.turn;
        if (!this.isOpen) return;
        this.connection.closeSync();
        this.instance.closeSync();
    }
    async rewrite() {
        const { path, memoryBytes } = this.options;
        await this.inTurn(async ()=>{
            this.snapshots.outdate();
            this.isOpen = false;
            this.connection.closeSync();
            this.instance.closeSync();
            await rewriteDatabase(join(path, DATABASE_FILE), memoryBytes);
            await FILE_SYSTEM.remove(join(path, REWRITE_FILE));
        });
    }
    async reopen() {
        const { instance, connection } = await openInstance(this.options);
        this.instance = instance;
        this.connection = connection;
        this.isOpen = true;
    }
    async takeLogIn() {
        const log = join(this.options.path, `${DATABASE_FILE}.wal`);
        const logBytes = await stat(log).then(({ size })=>size, ()=>0);
        if (logBytes > LOG_BYTES_MAX) await this.checkpoint();
    }
    /**
   * Not while a snapshot is copied: the next batch will see to it. A copy that begins meanwhile is
   * outdated at the end.
   */ checkpoint() {
        return this.inTurn(async ()=>{
            if (this.snapshots.isCopying) return;
            await this.connection.run('CHECKPOINT');
            this.snapshots.outdate();
        });
    }
    inTransaction(act) {
        return this.inTurn(async ()=>{
            await this.connection.run('BEGIN');
            try {
                const answer = await act();
                await this.connection.run('COMMIT');
                return answer;
            } catch (thrown) {
                await this.connection.run('ROLLBACK');
                throw thrown;
            }
        });
    }
    rows(sql, values = []) {
        return this.inTurn(async ()=>{
            const reader = await this.connection.runAndReadAll(sql, values);
            return reader.getRowObjectsJson();
        });
    }
    inTurn(act) {
        const open = async ()=>{
            if (!this.isOpen) await this.reopen();
        };
        const done = this.turn.then(open).then(act).catch((cause)=>{
            if (cause instanceof TesseraError) throw cause;
            const reason = cause instanceof Error ? cause.message : String(cause);
            throw new TesseraError('IO_FAILED', `the inspection store: ${reason}`, {
                cause
            });
        });
        this.turn = done.catch(()=>undefined);
        return done;
    }
}

//# sourceMappingURL=duckdb-recorder.js.map