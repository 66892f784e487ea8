import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api';
import { TesseraError } from '@tessera/errors';
import {
  type ExportFormat,
  InspectionStore,
  type QueryLimits,
  type QueryResult,
  type RecallFilter,
  type RecordedChange,
  type StoreState,
} from '../domain/inspection-store.js';
import type { Pulse } from '../domain/pulse.js';
import type { RecordableRecall } from '../domain/recordable.js';
import type { RecallSummary, RecordedRecall } from '../domain/recorded-recall.js';
import { expiryMs, type RetentionRules } from '../domain/retention.js';
import { AnalystShelf } from './analyst-shelf.js';
import { CHANGE_COLUMNS, changeFrom, changeRow } from './change-rows.js';
import {
  INSERT_CHANGES,
  INSERT_ITEMS,
  INSERT_PULSES,
  INSERT_RECALLS,
  itemRows,
  recallRow,
  TABLE_DEFINITIONS,
} from './duckdb-tables.js';
import { ReadOnlyQueries } from './read-only-query.js';
import { recordedFrom, SUMMARY_COLUMNS, summaryFrom, summaryWhere } from './recall-rows.js';
import { WriteQueue } from './write-queue.js';

export interface DuckDbStoreOptions {
  /** Folder of the store; made when absent, one process at a time. */
  readonly path: string;
  /** Memory that the database may take. */
  readonly memoryBytes: number;
  /** Recalls that wait to be written at most. */
  readonly queueMax: number;
  readonly retention: RetentionRules;
  /** Told how recalls fared: written, dropped (the queue was full) or failed. */
  readonly onRecords: (outcome: RecordOutcome, count: number) => void;
  /** Told of what could not be written or removed. */
  readonly onFault: (thrown: unknown) => void;
}

export type RecordOutcome = 'written' | 'dropped' | 'failed';

/**
 * Of recalls that are written at once: one transaction, one statement per table. A transaction
 * costs as much as some fifty recalls in it, so they wait for each other, unless somebody looks.
 */
const BATCH_MAX = 512;
const GATHER_MS = 1000;
/** Rows made ready on one turn of the event loop; recalls go on between them. */
const ROWS_PER_TURN = 4;
const PULSES_WAITING_MAX = 100;
const CHANGES_WAITING_MAX = 1000;
const RETENTION_PERIOD_MS = 60_000;
const MEBIBYTE = 2 ** 20;

/** Opened so that no question reaches a file beside the store's own; none can change that. */
async function openInstance({ path, memoryBytes }: DuckDbStoreOptions, exportFolder: string) {
  // Loaded only where recalls are recorded.
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(join(path, 'inspection.duckdb'), {
    // The engine has the cores: the store takes its time.
    threads: '1',
    memory_limit: `${Math.max(1, Math.floor(memoryBytes / MEBIBYTE))}MiB`,
    temp_directory: join(path, 'spilled'),
    // What is not built in would be downloaded.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  const folder = `${exportFolder}/`.replaceAll("'", "''");
  await connection.run(`SET allowed_directories = ['${folder}']`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  for (const definition of TABLE_DEFINITIONS) await connection.run(definition);
  return { instance, connection };
}

/** The rows as JSON, some on each turn of the event loop. */
async function jsonArray<Element>(
  elements: readonly Element[],
  rowsOf: (element: Element) => readonly object[],
): Promise<string> {
  const texts: string[] = [];
  for (const [index, element] of elements.entries()) {
    for (const row of rowsOf(element)) texts.push(JSON.stringify(row));
    if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
  return `[${texts.join(',')}]`;
}

/** Recorded recalls in an embedded DuckDB. */
export class DuckDbInspectionStore extends InspectionStore {
  readonly shelf: AnalystShelf;
  private readonly recallQueue: WriteQueue<RecordableRecall>;
  private readonly pulseQueue: WriteQueue<Pulse>;
  private readonly changeQueue: WriteQueue<RecordedChange>;
  private readonly queries: ReadOnlyQueries;
  private readonly counts = { written: 0, dropped: 0, failed: 0 };
  private readonly retentionTimer: NodeJS.Timeout;
  /** Statements of this connection, one after the other: a transaction is one's own. */
  private turn: Promise<unknown> = Promise.resolve();

  /** Rejects with STORE_UNAVAILABLE where another process has it or it cannot be read. */
  static async open(options: DuckDbStoreOptions): Promise<DuckDbInspectionStore> {
    const exportFolder = join(options.path, 'exports');
    try {
      await mkdir(exportFolder, { recursive: true });
      for (const left of await readdir(exportFolder)) await rm(join(exportFolder, left));
      const { instance, connection } = await openInstance(options, exportFolder);
      return new DuckDbInspectionStore(options, instance, connection, exportFolder);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `inspection.path: expected a store that can be opened, came: ${reason}`;
      throw new TesseraError('STORE_UNAVAILABLE', message, { field: 'inspection.path', cause });
    }
  }

  private constructor(
    private readonly options: DuckDbStoreOptions,
    private readonly instance: DuckDBInstance,
    private readonly connection: DuckDBConnection,
    exportFolder: string,
  ) {
    super();
    this.queries = new ReadOnlyQueries(instance, exportFolder);
    this.shelf = new AnalystShelf((sql, values) => this.rows(sql, values));
    this.recallQueue = new WriteQueue({
      waitingMax: options.queueMax,
      batchMax: BATCH_MAX,
      gatherMs: GATHER_MS,
      write: (batch) => this.writeRecalls(batch),
      onWritten: (count) => this.count('written', count),
      onFailed: (count, thrown) => {
        this.count('failed', count);
        options.onFault(thrown);
      },
    });
    const uncounted = {
      batchMax: BATCH_MAX,
      gatherMs: GATHER_MS,
      onWritten: () => undefined,
      onFailed: (_count: number, thrown: unknown) => options.onFault(thrown),
    };
    this.pulseQueue = new WriteQueue({
      ...uncounted,
      waitingMax: PULSES_WAITING_MAX,
      write: (batch) => this.writePulses(batch),
    });
    this.changeQueue = new WriteQueue({
      ...uncounted,
      waitingMax: CHANGES_WAITING_MAX,
      write: async (batch) => {
        await this.rows(INSERT_CHANGES, [JSON.stringify(batch.map(changeRow))]);
      },
    });
    this.retentionTimer = setInterval(() => {
      this.retain(Date.now()).catch(options.onFault);
    }, RETENTION_PERIOD_MS);
    this.retentionTimer.unref();
  }

  offer(recall: RecordableRecall): boolean {
    const isTaken = this.recallQueue.offer(recall);
    if (!isTaken) this.count('dropped', 1);
    return isTaken;
  }

  offerPulse(pulse: Pulse): boolean {
    return this.pulseQueue.offer(pulse);
  }

  offerChange(change: RecordedChange): boolean {
    return this.changeQueue.offer(change);
  }

  async settled(): Promise<void> {
    const { recallQueue, pulseQueue, changeQueue } = this;
    await Promise.all([recallQueue.settled(), pulseQueue.settled(), changeQueue.settled()]);
  }

  async recalls(filter: RecallFilter): Promise<readonly RecallSummary[]> {
    const { where, values } = summaryWhere(filter);
    const sql = `SELECT ${SUMMARY_COLUMNS} FROM recalls ${where} ORDER BY time DESC, id DESC`;
    const rows = await this.rows(`${sql} LIMIT ${Math.trunc(filter.limit)}`, values);
    return rows.map(summaryFrom);
  }

  async recall(id: string): Promise<RecordedRecall | undefined> {
    const [row] = await this.rows(
      `SELECT ${SUMMARY_COLUMNS}, message, detail, to_base64(tree) AS tree FROM recalls ` +
        'WHERE id = $1',
      [id],
    );
    if (row === undefined) return undefined;
    const items = await this.rows(
      'SELECT rank, item_id, sid, score, title FROM items ' +
        'WHERE time = make_timestamp_ms($2::DOUBLE::BIGINT) AND recall = $1 ORDER BY rank',
      [id, Number(row.time_ms)],
    );
    return recordedFrom(row, items);
  }

  async changes(limit: number): Promise<readonly RecordedChange[]> {
    const sql = `SELECT ${CHANGE_COLUMNS} FROM changes ORDER BY time DESC, sequence DESC`;
    return (await this.rows(`${sql} LIMIT ${Math.trunc(limit)}`)).map(changeFrom);
  }

  async pulses(fromMs: number): Promise<readonly Pulse[]> {
    const rows = await this.rows(
      'SELECT detail FROM pulses WHERE time >= make_timestamp_ms($1::DOUBLE::BIGINT) ORDER BY time',
      [fromMs],
    );
    return rows.map((row) => JSON.parse(String(row.detail)) as Pulse);
  }

  async query(sql: string, limits: QueryLimits): Promise<QueryResult> {
    await this.settled();
    return this.queries.query(sql, limits);
  }

  async exportTo(sql: string, format: ExportFormat, limits: QueryLimits): Promise<string> {
    await this.settled();
    return this.queries.exportTo(sql, format, limits);
  }

  async eraseUser(userId: string): Promise<number> {
    await this.recallQueue.settled();
    return this.inTransaction(async () => {
      await this.connection.run(
        'DELETE FROM items WHERE recall IN (SELECT id FROM recalls WHERE user_id = $1)',
        [userId],
      );
      await this.connection.run('DELETE FROM comparisons WHERE list_contains(users, $1)', [userId]);
      const gone = await this.connection.run('DELETE FROM recalls WHERE user_id = $1', [userId]);
      return gone.rowsChanged;
    });
  }

  async state(): Promise<StoreState> {
    const [sizes] = await this.rows(
      'SELECT (SELECT count(*) FROM recalls)::DOUBLE AS recalls, ' +
        '(SELECT count(*) FROM items)::DOUBLE AS items, ' +
        '(SELECT coalesce(epoch_ms(min(time)), 0) FROM recalls)::DOUBLE AS oldest, ' +
        '(SELECT coalesce(epoch_ms(max(time)), 0) FROM recalls)::DOUBLE AS newest, ' +
        '(SELECT sum(used_blocks * block_size) FROM pragma_database_size())::DOUBLE AS used',
    );
    return {
      recalls: Number(sizes?.recalls),
      items: Number(sizes?.items),
      usedBytes: Number(sizes?.used),
      oldestMs: Number(sizes?.oldest),
      newestMs: Number(sizes?.newest),
      queued: this.recallQueue.length,
      ...this.counts,
    };
  }

  /** Removes what is too old or too much; by itself once a minute. */
  async retain(nowMs: number): Promise<void> {
    const expiry = expiryMs(this.options.retention, await this.state(), nowMs);
    const agedOut = nowMs - this.options.retention.ageMsMax;
    await this.inTransaction(async () => {
      const before = 'time < make_timestamp_ms($1::DOUBLE::BIGINT)';
      await this.connection.run(`DELETE FROM pulses WHERE ${before}`, [agedOut]);
      await this.connection.run(`DELETE FROM changes WHERE ${before}`, [agedOut]);
      if (expiry === undefined) return;
      await this.connection.run(`DELETE FROM items WHERE ${before}`, [expiry]);
      await this.connection.run(`DELETE FROM recalls WHERE ${before}`, [expiry]);
    });
    if (expiry !== undefined) await this.rows('CHECKPOINT');
  }

  async close(): Promise<void> {
    clearInterval(this.retentionTimer);
    const { recallQueue, pulseQueue, changeQueue } = this;
    await Promise.all([recallQueue.close(), pulseQueue.close(), changeQueue.close()]);
    await this.turn;
    this.connection.closeSync();
    this.instance.closeSync();
  }

  private count(outcome: RecordOutcome, count: number): void {
    this.counts[outcome] += count;
    this.options.onRecords(outcome, count);
  }

  private async writeRecalls(batch: readonly RecordableRecall[]): Promise<void> {
    const recalls = await jsonArray(batch, (recall) => [recallRow(recall)]);
    const items = await jsonArray(batch, itemRows);
    return this.inTransaction(async () => {
      await this.connection.run(INSERT_RECALLS, [recalls]);
      await this.connection.run(INSERT_ITEMS, [items]);
    });
  }

  private async writePulses(batch: readonly Pulse[]): Promise<void> {
    const rows = batch.map((pulse) => ({ time: pulse.timeMs, detail: JSON.stringify(pulse) }));
    await this.rows(INSERT_PULSES, [JSON.stringify(rows)]);
  }

  private inTransaction<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    return this.inTurn(async () => {
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

  private rows(sql: string, values: DuckDBValue[] = []): Promise<Record<string, unknown>[]> {
    return this.inTurn(async () => {
      const reader = await this.connection.runAndReadAll(sql, values);
      return reader.getRowObjectsJson();
    });
  }

  private inTurn<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    const done = this.turn.then(act).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new TesseraError('IO_FAILED', `the inspection store: ${reason}`, { cause });
    });
    this.turn = done.catch(() => undefined);
    return done;
  }
}
