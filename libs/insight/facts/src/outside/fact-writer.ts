import { basename, join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { TesseraError } from '@tessera/errors';
import {
  beginOf,
  DAY_LENGTH,
  dayAt,
  hourAt,
  mergeable,
  mergeableSoon,
  minuteAt,
  minuteBehindMerged,
  newestStamp,
  stampOf,
} from '../domain/fact-files.js';
import {
  type FactTableName,
  insertionOf,
  ROW_TABLES,
  type RowTableName,
  tableDefinition,
} from '../domain/fact-tables.js';
import {
  bytesOf,
  coveredFiles,
  isRetired,
  makeFolders,
  parquetOf,
  quoted,
  type RowCounts,
  removeFile,
  retire,
  tableFiles,
  tableFolder,
  writeWhole,
} from './fact-folder.js';
import { ItemVersions } from './item-versions.js';
import type { Pseudonyms } from './pseudonyms.js';
import { DETAIL_TABLES, type RecordedSizes, recordedIds, recordedSizes } from './recorded-rows.js';
import { Rollups } from './rollups.js';
import type { SealedText } from './seals.js';
import { openDatabase, stateBytes } from './state-database.js';
import { Versions } from './versions.js';

export interface FactWriterOptions {
  /** Folder of the facts; made when absent, one process at a time. */
  readonly path: string;
  /** Name of this node, in the names of its files. */
  readonly node: string;
  readonly memoryBytes: number;
  readonly keepMs: number;
  readonly keepBytes: number;
  /** Rows that a file has at most, and rows that wait for a disk that takes none. */
  readonly fileRowsMax: number;
  readonly waitingRowsMax: number;
  /** Milliseconds that a file that counts no more is kept for those who read it. */
  readonly graceMs: number;
}

/** Rows of one table, as `insertionOf` takes them. */
export interface RowBatch {
  readonly table: RowTableName;
  readonly rows: string;
  readonly count: number;
  /** To which the rows refer by index; '' for nobody. */
  readonly userIds: readonly string[];
  /** Texts of the same users that are sealed, in the order of the sealed columns. */
  readonly secrets?: readonly (readonly string[])[];
}

export interface Appended {
  /** Rows that were lost: the disk takes none, and no more can wait. */
  readonly lost: number;
  /** Why nothing is written; '' where it is. */
  readonly fault: string;
  /** Rows of each table that are in memory alone. */
  readonly waiting: RowCounts;
}

export interface FactSizes {
  readonly bytes: number;
  readonly files: number;
  /** Begin of the oldest file, milliseconds since 1970; 0 where there is none. */
  readonly oldestMs: number;
  readonly fault: string;
  readonly recorded: RecordedSizes;
}

const FORM = 'FORMAT parquet, COMPRESSION zstd';

/** Recorded recalls of a part of a file: one is some 10 KB, and a page wants one. */
const RECALLS_OF_GROUP = 2048;
/** Rows of other tables that have the bytes of a recorded recall. */
const ROWS_OF_RECALL = 25;
const rowsOf = (name: RowTableName, count: number) =>
  name === 'recalls' ? Math.ceil(count / ROWS_OF_RECALL) : count;

/** Options of COPY for a file of an hour or day. */
function mergedForm(name: FactTableName): string {
  // Groups are small, so that a question about some users or items reads little of a file.
  const rows = name === 'recalls' ? RECALLS_OF_GROUP : 8192;
  const form = `${FORM}, COMPRESSION_LEVEL 6, ROW_GROUP_SIZE ${rows}`;
  // Items repeat: as places in a dictionary, lists are read in less than half the time.
  return name === 'recall_fact' ? `${form}, DICTIONARY_SIZE_LIMIT 65536` : form;
}

/** Order of the rows in a file of an hour, where it is not that of time. */
const ORDER_OF_HOURS: Partial<Record<FactTableName, string>> = {
  recall_fact: 'user_hash, time',
  behaviour: 'user_hash, time',
  item_hour: 'hour, item_id',
};
/** Tables whose files are of minutes, hours and days. */
const MERGED = [...ROW_TABLES.map(({ name }) => name), 'item_hour'] as const;
const isDetail = (name: string) => DETAIL_TABLES.some((one) => one === name);
/** Tables that have so many bytes together as are kept. */
const BUDGETS = [MERGED.filter((name) => !isDetail(name)), DETAIL_TABLES];
/** Divisor of the time: the share in which the file of item versions may be written. */
const EXPORT_SHARE = 20;

/** Writes facts; runs in a process of its own, one call at a time. */
export class FactWriter {
  private readonly waiting = new Map<RowTableName, number>();
  private fault = '';
  private lastStamp = '';
  private exportedMs = 0;
  private exportTookMs = 0;
  /** Files that count no more -> the time from which on nobody reads them. */
  private readonly leaving = new Map<string, number>();

  static async open(options: FactWriterOptions): Promise<FactWriter> {
    await makeFolders(options.path);
    const { path, memoryBytes } = options;
    const { instance, connection, pseudonyms } = await openDatabase(path, memoryBytes);
    for (const { name } of ROW_TABLES) await connection.run(tableDefinition(name));
    const items = await ItemVersions.open(connection);
    const versions = await Versions.open(connection);
    return new FactWriter(options, instance, connection, pseudonyms, items, versions);
  }

  private constructor(
    private readonly options: FactWriterOptions,
    private readonly instance: DuckDBInstance,
    private readonly connection: DuckDBConnection,
    private readonly pseudonyms: Pseudonyms,
    readonly items: ItemVersions,
    readonly versions: Versions,
  ) {
    // A process before this one may have written in this very minute.
    this.lastStamp = newestStamp(ROW_TABLES.flatMap(({ name }) => tableFiles(options.path, name)));
  }

  async append({ table, rows, count, userIds, secrets = [] }: RowBatch): Promise<Appended> {
    const fileRowsMax = rowsOf(table, this.options.fileRowsMax);
    const waitingRowsMax = rowsOf(table, this.options.waitingRowsMax);
    const waiting = this.waiting.get(table) ?? 0;
    if (waiting + count > waitingRowsMax) return this.appended(count);
    const pseudonyms = await this.pseudonyms.of(userIds);
    const seals = secrets.length === 0 ? [] : await this.pseudonyms.seal(pseudonyms, secrets);
    const values = [rows, `[${pseudonyms.join(',')}]`, JSON.stringify(seals)];
    await this.connection.run(insertionOf(table), values);
    this.waiting.set(table, waiting + count);
    if (waiting + count >= fileRowsMax && this.fault === '') await this.flush(Date.now());
    return this.appended(0);
  }

  /**
   * Files of all that waits; where the disk takes none, it waits on.
   * @param only the table whose rows somebody wants to see; left out: all
   */
  async flush(nowMs: number, only?: RowTableName): Promise<Appended> {
    try {
      for (const { name } of ROW_TABLES) {
        if (only === undefined || only === name) await this.flushTable(name, nowMs);
      }
      if (only === undefined) await this.exportState(nowMs);
      this.fault = '';
    } catch (thrown) {
      this.fault = `facts are not written: ${(thrown as Error).message.split('\n', 1)[0]}`;
    }
    return this.appended(0);
  }

  private appended(lost: number): Appended {
    return { lost, fault: this.fault, waiting: Object.fromEntries(this.waiting) };
  }

  /**
   * Whole hours and days become one file each; the oldest go where there are too many, and first:
   * a full disk may need their room, and then has it at once.
   * @param isWanted asked before each merge; the next call goes on with those that are left
   */
  async tidy(nowMs: number, isWanted = () => true): Promise<void> {
    await this.removeCovered(nowMs);
    await this.retain(nowMs);
    await this.pseudonyms.expire(this.options.keepMs);
    try {
      await this.mergeAll(nowMs, isWanted);
    } catch (thrown) {
      for (const path of coveredFiles(this.options.path)) {
        if (isRetired(path)) await removeFile(path);
      }
      throw thrown;
    }
    await this.removeCovered(nowMs);
  }

  private async mergeAll(nowMs: number, isWanted: () => boolean): Promise<void> {
    const rollups = new Rollups(this.connection, this.options.path, this.options.node);
    await rollups.write(nowMs);
    for (const name of MERGED) {
      await this.merge(name, nowMs, isWanted);
    }
  }

  find(userId: string): Promise<string | undefined> {
    return this.pseudonyms.find(userId);
  }

  /** The keys are overwritten when it resolves. */
  forget(userId: string): Promise<boolean> {
    return this.pseudonyms.forget(userId);
  }

  unseal(texts: readonly SealedText[]): Promise<(string | null)[]> {
    return this.pseudonyms.unseal(texts);
  }

  /** IDs of the recorded recalls of a user. */
  async recordedOf(userId: string): Promise<readonly string[]> {
    const pseudonym = await this.pseudonyms.find(userId);
    if (pseudonym === undefined) return [];
    return recordedIds(this.connection, this.options.path, pseudonym);
  }

  async sizes(): Promise<FactSizes> {
    const { path } = this.options;
    const paths = this.allFiles();
    const stamps = tableFiles(path, 'recall_fact').map((file) => stampOf(basename(file)) ?? '');
    const [oldest = ''] = stamps;
    return {
      bytes: (await bytesOf(paths)) + (await stateBytes(path)),
      files: paths.length,
      oldestMs: oldest === '' ? 0 : beginOf(oldest),
      fault: this.fault,
      recorded: await recordedSizes(this.connection, path),
    };
  }

  async close(): Promise<void> {
    await this.flush(Date.now());
    this.connection.closeSync();
    this.instance.closeSync();
    await this.pseudonyms.close();
  }

  private allFiles(): string[] {
    const names = [...ROW_TABLES.map(({ name }) => name), 'item_hour', 'item_version', 'version'];
    return names.flatMap((name) => tableFiles(this.options.path, name as FactTableName));
  }

  private async flushTable(name: RowTableName, nowMs: number): Promise<void> {
    if ((this.waiting.get(name) ?? 0) === 0) return;
    await this.write(
      this.pathOf(name, this.nextStamp(nowMs)),
      `SELECT * FROM ${name} ORDER BY time`,
    );
    await this.connection.run(`DELETE FROM ${name}`);
    this.waiting.set(name, 0);
  }

  /**
   * Never one before the last, nor of an hour or day that is one file or counted by items, whatever
   * the clock does: these are made once.
   */
  private nextStamp(nowMs: number): string {
    const files = MERGED.flatMap((name) => tableFiles(this.options.path, name));
    const behind = minuteBehindMerged(files.map((path) => basename(path)));
    const minute = [minuteAt(nowMs), this.lastStamp.slice(0, 13), behind].sort().at(-1) ?? '';
    const [, count = '0'] = this.lastStamp.split('-');
    this.lastStamp = this.lastStamp.startsWith(minute) ? `${minute}-${Number(count) + 1}` : minute;
    return this.lastStamp;
  }

  private pathOf(name: FactTableName, stamp: string): string {
    const node = this.options.node.replaceAll(/[^\w-]/g, '_') || 'node';
    return join(tableFolder(this.options.path, name), `${stamp}.${node}.parquet`);
  }

  private write(path: string, rows: string, form = FORM): Promise<void> {
    return writeWhole(path, async (partial) => {
      await this.connection.run(`COPY (${rows}) TO ${quoted(partial)} (${form})`);
    });
  }

  /** Item versions take a time by their number: they are written in a part of the time. */
  private async exportState(nowMs: number): Promise<void> {
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

  private async merge(name: FactTableName, nowMs: number, isWanted: () => boolean): Promise<void> {
    const folder = tableFolder(this.options.path, name);
    const files = tableFiles(this.options.path, name).map((path) => basename(path));
    const groups = name === 'recalls' ? mergeableSoon(files, nowMs) : mergeable(files, nowMs);
    for (const [into, parts] of groups) {
      if (!isWanted()) return;
      const paths = parts.map((file) => join(folder, file));
      // A day's hours are in order already.
      const isDay = into.length === DAY_LENGTH;
      const order = isDay ? '' : ` ORDER BY ${ORDER_OF_HOURS[name] ?? 'time'}`;
      const rows = `SELECT * FROM ${parquetOf(paths)}${order}`;
      await this.write(this.pathOf(name, into), rows, mergedForm(name));
    }
  }

  /** Also those that a process before this one has left. */
  private async removeCovered(nowMs: number): Promise<void> {
    const { path: folder, graceMs } = this.options;
    for (const path of coveredFiles(folder)) {
      const fromMs = this.leaving.get(path) ?? nowMs + graceMs;
      this.leaving.set(path, fromMs);
      if (fromMs > nowMs) continue;
      await removeFile(path);
      this.leaving.delete(path);
    }
  }

  private async retain(nowMs: number): Promise<void> {
    for (const tables of BUDGETS) await this.retainTables(tables, nowMs);
  }

  private async retainTables(tables: readonly FactTableName[], nowMs: number): Promise<void> {
    const { path, keepMs, keepBytes } = this.options;
    const files = tables
      .flatMap((name) => tableFiles(path, name))
      .map((file) => ({ file, stamp: stampOf(basename(file)) ?? '' }))
      .sort((a, b) => (a.stamp < b.stamp ? -1 : 1));
    let bytes = await bytesOf(files.map(({ file }) => file));
    for (const { file, stamp } of files) {
      // A span's end is not before the next one's begin: a day is the longest.
      const isOld =
        stamp < dayAt(nowMs - keepMs) || stamp < hourAt(nowMs - keepMs).slice(0, stamp.length);
      if (!isOld && bytes <= keepBytes) continue;
      bytes -= await bytesOf([file]);
      // A disk that has no room for the mark needs that of the file.
      await retire(file).catch(() => removeFile(file));
    }
  }
}

/** A failure of the database in the words of the error table. */
export function factsFailure(thrown: unknown): TesseraError {
  if (thrown instanceof TesseraError) return thrown;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new TesseraError('IO_FAILED', `facts: ${reason}`, { cause: thrown });
}
