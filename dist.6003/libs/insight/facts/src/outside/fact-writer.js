import { basename, join } from "node:path";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { beginOf, DAY_LENGTH, dayAt, hourAt, mergeable, minuteAt, minuteBehindMerged, newestStamp, stampOf } from "../domain/fact-files.js";
import { insertionOf, ROW_TABLES, tableDefinition } from "../domain/fact-tables.js";
import { bytesOf, coveredFiles, isRetired, makeFolders, parquetOf, quoted, removeFile, retire, tableFiles, tableFolder, writeWhole } from "./fact-folder.js";
import { ItemVersions } from "./item-versions.js";
import { Rollups } from "./rollups.js";
import { openDatabase, stateBytes } from "./state-database.js";
import { Versions } from "./versions.js";
const FORM = 'FORMAT parquet, COMPRESSION zstd';
/** Options of COPY for a file of an hour or day. */ export function mergedForm(name) {
    // Groups are small, so that a question about some users or items reads little of a file.
    const form = `${FORM}, COMPRESSION_LEVEL 6, ROW_GROUP_SIZE 8192`;
    // Items repeat: as places in a dictionary, lists are read in less than half the time.
    return name === 'recall_fact' ? `${form}, DICTIONARY_SIZE_LIMIT 65536` : form;
}
/** Order of the rows in a file of an hour, where it is not that of time. */ const ORDER_OF_HOURS = {
    recall_fact: 'user_hash, time',
    behaviour: 'user_hash, time',
    item_hour: 'hour, item_id'
};
/** Tables whose files are of minutes, hours and days. */ const MERGED = [
    ...ROW_TABLES.map(({ name })=>name),
    'item_hour'
];
/** Of the time, the share that the file of item versions may be written in. */ const EXPORT_SHARE = 20;
/** Writes facts; runs in a process of its own, one call at a time. */ export class FactWriter {
    options;
    instance;
    connection;
    pseudonyms;
    items;
    versions;
    waiting = new Map();
    fault = '';
    lastStamp = '';
    exportedMs = 0;
    exportTookMs = 0;
    /** Files that count no more -> the time from which on nobody reads them. */ leaving = new Map();
    static async open(options) {
        await makeFolders(options.path);
        const { path, memoryBytes } = options;
        const { instance, connection, pseudonyms } = await openDatabase(path, memoryBytes);
        for (const { name } of ROW_TABLES)await connection.run(tableDefinition(name));
        const items = await ItemVersions.open(connection);
        const versions = await Versions.open(connection);
        return new FactWriter(options, instance, connection, pseudonyms, items, versions);
    }
    constructor(options, instance, connection, pseudonyms, items, versions){
        this.options = options;
        this.instance = instance;
        this.connection = connection;
        this.pseudonyms = pseudonyms;
        this.items = items;
        this.versions = versions;
        // A process before this one may have written in this very minute.
        this.lastStamp = newestStamp(ROW_TABLES.flatMap(({ name })=>tableFiles(options.path, name)));
    }
    async append({ table, rows, count, userIds }) {
        const { fileRowsMax, waitingRowsMax } = this.options;
        const waiting = this.waiting.get(table) ?? 0;
        if (waiting + count > waitingRowsMax) return this.appended(count);
        const pseudonyms = await this.pseudonyms.of(userIds);
        await this.connection.run(insertionOf(table), [
            rows,
            `[${pseudonyms.join(',')}]`
        ]);
        this.waiting.set(table, waiting + count);
        if (waiting + count >= fileRowsMax && this.fault === '') await this.flush(Date.now());
        return this.appended(0);
    }
    /** Files of all that waits; where the disk takes none, it waits on. */ async flush(nowMs) {
        try {
            for (const { name } of ROW_TABLES)await this.flushTable(name, nowMs);
            await this.exportState(nowMs);
            this.fault = '';
        } catch (thrown) {
            this.fault = `facts are not written: ${thrown.message.split('\n', 1)[0]}`;
        }
        return this.appended(0);
    }
    appended(lost) {
        const waiting = [
            ...this.waiting.values()
        ].reduce((sum, count)=>sum + count, 0);
        return {
            lost,
            fault: this.fault,
            waiting
        };
    }
    /**
   * Whole hours and days become one file each; the oldest go where there are too many, and first:
   * a full disk may need their room, and then has it at once.
   * @param isWanted asked before each merge; the next call goes on with those that are left
   */ async tidy(nowMs, isWanted = ()=>true) {
        await this.removeCovered(nowMs);
        await this.retain(nowMs);
        try {
            await this.mergeAll(nowMs, isWanted);
        } catch (thrown) {
            for (const path of coveredFiles(this.options.path)){
                if (isRetired(path)) await removeFile(path);
            }
            throw thrown;
        }
        await this.removeCovered(nowMs);
    }
    async mergeAll(nowMs, isWanted) {
        const rollups = new Rollups(this.connection, this.options.path, this.options.node);
        await rollups.write(nowMs);
        for (const name of MERGED){
            await this.merge(name, nowMs, isWanted);
        }
    }
    find(userId) {
        return this.pseudonyms.find(userId);
    }
    /** The key is overwritten when it resolves. */ forget(userId) {
        return this.pseudonyms.forget(userId);
    }
    async sizes() {
        const { path } = this.options;
        const paths = this.allFiles();
        const stamps = tableFiles(path, 'recall_fact').map((file)=>stampOf(basename(file)) ?? '');
        const [oldest = ''] = stamps;
        return {
            bytes: await bytesOf(paths) + await stateBytes(path),
            files: paths.length,
            oldestMs: oldest === '' ? 0 : beginOf(oldest),
            fault: this.fault
        };
    }
    async close() {
        await this.flush(Date.now());
        this.connection.closeSync();
        this.instance.closeSync();
        await this.pseudonyms.close();
    }
    allFiles() {
        const names = [
            ...ROW_TABLES.map(({ name })=>name),
            'item_hour',
            'item_version',
            'version'
        ];
        return names.flatMap((name)=>tableFiles(this.options.path, name));
    }
    async flushTable(name, nowMs) {
        if ((this.waiting.get(name) ?? 0) === 0) return;
        await this.write(this.pathOf(name, this.nextStamp(nowMs)), `SELECT * FROM ${name} ORDER BY time`);
        await this.connection.run(`DELETE FROM ${name}`);
        this.waiting.set(name, 0);
    }
    /**
   * Never one before the last, nor of an hour or day that is one file or counted by items, whatever
   * the clock does: these are made once.
   */ nextStamp(nowMs) {
        const files = MERGED.flatMap((name)=>tableFiles(this.options.path, name));
        const behind = minuteBehindMerged(files.map((path)=>basename(path)));
        const minute = [
            minuteAt(nowMs),
            this.lastStamp.slice(0, 13),
            behind
        ].sort().at(-1) ?? '';
        const [, count = '0'] = this.lastStamp.split('-');
        this.lastStamp = this.lastStamp.startsWith(minute) ? `${minute}-${Number(count) + 1}` : minute;
        return this.lastStamp;
    }
    pathOf(name, stamp) {
        const node = this.options.node.replaceAll(/[^\w-]/g, '_') || 'node';
        return join(tableFolder(this.options.path, name), `${stamp}.${node}.parquet`);
    }
    write(path, rows, form = FORM) {
        return writeWhole(path, async (partial)=>{
            await this.connection.run(`COPY (${rows}) TO ${quoted(partial)} (${form})`);
        });
    }
    /** Item versions take a time by their number: they are written in a part of the time. */ async exportState(nowMs) {
        const { path } = this.options;
        const mayExport = nowMs - this.exportedMs >= this.exportTookMs * EXPORT_SHARE;
        if (this.items.isDirty && mayExport) {
            const began = performance.now();
            const rows = 'SELECT * FROM state.item_version ORDER BY catalogue, item_id, from_seq';
            await this.write(join(tableFolder(path, 'item_version'), 'all.parquet'), rows);
            this.items.isDirty = false;
            this.exportTookMs = performance.now() - began;
            this.exportedMs = nowMs;
        }
        if (this.versions.isDirty) {
            const rows = 'SELECT * FROM state.version ORDER BY time';
            await this.write(join(tableFolder(path, 'version'), 'all.parquet'), rows);
            this.versions.isDirty = false;
        }
    }
    async merge(name, nowMs, isWanted) {
        const folder = tableFolder(this.options.path, name);
        const files = tableFiles(this.options.path, name).map((path)=>basename(path));
        for (const [into, parts] of mergeable(files, nowMs)){
            if (!isWanted()) return;
            const paths = parts.map((file)=>join(folder, file));
            // A day's hours are in order already.
            const isDay = into.length === DAY_LENGTH;
            const order = isDay ? '' : ` ORDER BY ${ORDER_OF_HOURS[name] ?? 'time'}`;
            const rows = `SELECT * FROM ${parquetOf(paths)}${order}`;
            await this.write(this.pathOf(name, into), rows, mergedForm(name));
        }
    }
    /** Also those that a process before this one has left. */ async removeCovered(nowMs) {
        const { path: folder, graceMs } = this.options;
        for (const path of coveredFiles(folder)){
            const fromMs = this.leaving.get(path) ?? nowMs + graceMs;
            this.leaving.set(path, fromMs);
            if (fromMs > nowMs) continue;
            await removeFile(path);
            this.leaving.delete(path);
        }
    }
    async retain(nowMs) {
        const { path, keepMs, keepBytes } = this.options;
        const files = MERGED.flatMap((name)=>tableFiles(path, name)).map((file)=>({
                file,
                stamp: stampOf(basename(file)) ?? ''
            })).sort((a, b)=>a.stamp < b.stamp ? -1 : 1);
        let bytes = await bytesOf(files.map(({ file })=>file));
        for (const { file, stamp } of files){
            // A span's end is not before the next one's begin: a day is the longest.
            const isOld = stamp < dayAt(nowMs - keepMs) || stamp < hourAt(nowMs - keepMs).slice(0, stamp.length);
            if (!isOld && bytes <= keepBytes) continue;
            bytes -= await bytesOf([
                file
            ]);
            // A disk that has no room for the mark needs that of the file.
            await retire(file).catch(()=>removeFile(file));
        }
    }
}
/** A failure of the database in the words of the error table. */ export function factsFailure(thrown) {
    if (thrown instanceof TesseraError) return thrown;
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return new TesseraError('IO_FAILED', `facts: ${reason}`, {
        cause: thrown
    });
}

//# sourceMappingURL=fact-writer.js.map