import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildFactStore, RowTableName } from '@tessera/facts';
import {
  type ExportedFile,
  type ExportFormat,
  InspectionStore,
  type QueryLimits,
  type RecordedChange,
  type StoreState,
} from '../domain/inspection-store.js';
import type { Pulse } from '../domain/pulse.js';
import {
  type RecallSearch,
  type RecallSummary,
  type Row,
  recallsSql,
  searchSql,
  summaryFrom,
  timeOf,
} from '../domain/recall-summary.js';
import type { RecordableRecall } from '../domain/recordable.js';
import type { RecordedRecall } from '../domain/recorded-recall.js';
import { recordedFrom, recordedRow, secretsOf } from '../domain/recorded-row.js';
import { Launcher } from '../process/launcher.js';
import { Queries, type QueryRules } from '../process/queries.js';
import { AnalystShelf } from './analyst-shelf.js';

export interface FactInspectionOptions {
  /** Folder of what queries write and of the work of analysts. */
  readonly path: string;
  /** Facts with which recorded recalls lie; they outlast this store. */
  readonly facts: ChildFactStore;
  /** Keys of scenes that are columns for SQL. */
  readonly sceneKeys: readonly string[];
  /** Program of the processes: `launcher` or `query`, then its niceness. */
  readonly program: string;
  /** Niceness of both: 0, as this process, to 19. */
  readonly niceness: number;
  readonly queries: QueryRules;
  /** Told of what could not be removed. */
  readonly onFault: (thrown: unknown) => void;
}

/**
 * Young heap of a query's process, in MiB. V8 lets its young generation grow to more than 100 MiB
 * while an export makes garbage, sooner on a busy machine: the query would lack that memory.
 */
const YOUNG_HEAP = '--max-semi-space-size=4';
/** Milliseconds that an offered row may be missing from answers. */
const SEEN_MS = 2000;
/** Folder of what queries write, emptied when the store is opened; and that of the shelf. */
const QUERIES_FOLDER = 'queries';
const SHELF_FOLDER = 'work';
const PAGE_LIMITS: QueryLimits = { rowsMax: 100_000, timeoutMs: 10_000 };

/** Recorded recalls among the facts, read by the processes that answer queries (ADR 0149). */
export class FactInspectionStore extends InspectionStore {
  readonly shelf: AnalystShelf;
  private readonly launcher: Launcher;
  private readonly queries: Queries;
  /** Tables -> when they were written last because somebody looked. */
  private readonly looks = new Map<string, { readonly ms: number; readonly done: Promise<void> }>();

  static async open(options: FactInspectionOptions): Promise<FactInspectionStore> {
    const queries = join(options.path, QUERIES_FOLDER);
    await rm(queries, { recursive: true, force: true });
    await mkdir(queries, { recursive: true });
    const store = new FactInspectionStore(options);
    store.queries.open();
    return store;
  }

  private constructor(private readonly options: FactInspectionOptions) {
    super();
    const { path, facts, sceneKeys, program, niceness, queries: rules, onFault } = options;
    this.launcher = new Launcher([program, 'launcher', String(niceness)]);
    this.shelf = new AnalystShelf(join(path, SHELF_FOLDER));
    this.queries = new Queries({
      launcher: this.launcher,
      program: [YOUNG_HEAP, program, 'query', String(niceness)],
      rules,
      folder: (isOwn) => this.queryFolder(isOwn),
      place: { folder: facts.path, sceneKeys, shelf: join(path, SHELF_FOLDER) },
      onFault,
    });
  }

  /** ID of the process that starts those of queries; undefined while there is none. */
  get launcherProcessId(): number | undefined {
    return this.launcher.processId;
  }

  /** Queries that run, or whose files are being read. */
  get queryCount(): number {
    return this.queries.count;
  }

  offer(recall: RecordableRecall): boolean {
    // A person who tries one looks for it at once.
    if (recall.source === 'console') this.looks.clear();
    const row = () => recordedRow(recall);
    return this.options.facts.offerRecorded(recall.request.userId ?? '', row, () =>
      secretsOf(recall),
    );
  }

  offerPulse(pulse: Pulse): boolean {
    const row = { time: pulse.timeMs, detail: JSON.stringify(pulse) };
    return this.options.facts.offerRow('pulses', row);
  }

  offerChange({ timeMs, changeCount, ops, told, ...change }: RecordedChange): boolean {
    const texts = { ops: JSON.stringify(ops), told: JSON.stringify(told) };
    const row = { time: timeMs, change_count: changeCount, ...change, ...texts };
    return this.options.facts.offerRow('changes', row);
  }

  async recalls(search: RecallSearch, signal?: AbortSignal): Promise<readonly RecallSummary[]> {
    await this.look('recalls');
    const found = await this.found(search, signal);
    if (found.length > 0 || search.requestId === undefined) return found;
    // A search for one recall does not wait until it is time to look again.
    await this.options.facts.flush('recalls');
    return this.found(search, signal);
  }

  /** Recalls in files. */
  private async found(
    search: RecallSearch,
    signal?: AbortSignal,
  ): Promise<readonly RecallSummary[]> {
    const { facts } = this.options;
    const { userId, limit } = search;
    const pseudonym = userId === undefined ? undefined : await facts.pseudonym(userId);
    if (userId !== undefined && pseudonym === undefined) return [];
    const found: RecallSummary[] = [];
    for (let { offset } = search; ; offset += limit) {
      const rows = await this.ask(searchSql({ ...search, offset }, pseudonym), signal);
      const users = await this.unsealed(rows);
      for (const [row, user] of users) found.push(summaryFrom(row, user));
      // Recalls of users who were erased make room for others.
      if (rows.length < limit || found.length >= limit) return found.slice(0, limit);
    }
  }

  async recall(id: string): Promise<RecordedRecall | undefined> {
    const [kept] = await this.recallsOf([id]);
    if (kept !== undefined) return kept;
    await this.options.facts.flush('recalls');
    const [written] = await this.recallsOf([id]);
    return written;
  }

  async recallsOf(
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly RecordedRecall[]> {
    const rows = await this.unsealed(await this.ask(recallsSql(ids), signal));
    return rows.map(([row, sealed]) => recordedFrom(row, sealed));
  }

  async changes(limit: number): Promise<readonly RecordedChange[]> {
    await this.look('changes');
    const rows = await this.ask(
      'SELECT epoch_ms(time)::DOUBLE AS time_ms, catalogue, sequence::DOUBLE AS sequence, ' +
        'change_count, source, ops, told FROM changes ' +
        `ORDER BY time DESC, sequence DESC LIMIT ${Math.trunc(limit)}`,
    );
    return rows.map((row) => ({
      timeMs: Number(row.time_ms),
      catalogue: String(row.catalogue),
      sequence: Number(row.sequence),
      changeCount: Number(row.change_count),
      source: String(row.source),
      ops: JSON.parse(String(row.ops)) as RecordedChange['ops'],
      told: JSON.parse(String(row.told)) as RecordedChange['told'],
    }));
  }

  async pulses(fromMs: number): Promise<readonly Pulse[]> {
    const sql = `SELECT detail FROM pulses WHERE time >= ${timeOf(fromMs)} ORDER BY time`;
    return (await this.ask(sql)).map((row) => JSON.parse(String(row.detail)) as Pulse);
  }

  query(sql: string, limits: QueryLimits, signal?: AbortSignal): Promise<Uint8Array> {
    return this.queries.query(sql, limits, signal);
  }

  rows(
    statements: readonly string[],
    limits: QueryLimits,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    return this.queries.rows(statements, limits, signal);
  }

  exportTo(
    sql: string,
    format: ExportFormat,
    limits: QueryLimits,
    signal?: AbortSignal,
  ): Promise<ExportedFile> {
    return this.queries.exportTo(sql, format, limits, signal);
  }

  async eraseUser(userId: string): Promise<number> {
    const { facts } = this.options;
    const recallIds = await facts.beginErasure(userId);
    await this.shelf.forget(userId, recallIds);
    await facts.eraseUser(userId);
    // Notes may have been taken until the recalls could not be opened any more.
    await this.shelf.forget(userId, recallIds);
    this.queries.endAll('a user was erased whose data the query may hold');
    return recallIds.length;
  }

  async state(): Promise<StoreState> {
    const { facts } = this.options;
    const sizes = await facts.recorded();
    return { ...sizes, queued: facts.recordedWaiting, ...facts.recordedCounts };
  }

  async close(): Promise<void> {
    this.queries.close();
    this.launcher.close();
  }

  /** For one query; with all that was offered before, but for the last two seconds. */
  private async queryFolder(isOwn: boolean): Promise<string> {
    // Pages have looked already at the table that they ask for.
    if (!isOwn) await this.look();
    const folder = join(this.options.path, QUERIES_FOLDER, randomUUID());
    await mkdir(folder, { recursive: true });
    return folder;
  }

  /** Facts that cannot be written now are missing from answers. */
  private look(only?: RowTableName): Promise<void> {
    const name = only ?? '';
    const last = this.looks.get(name);
    const ms = Date.now();
    if (last !== undefined && ms - last.ms < SEEN_MS) return last.done;
    const done = this.options.facts.flush(only).catch(() => undefined);
    this.looks.set(name, { ms, done });
    return done;
  }

  private async ask(sql: string, signal?: AbortSignal): Promise<readonly Row[]> {
    const json = await this.queries.rows([sql], PAGE_LIMITS, signal);
    const [rows = []] = JSON.parse(Buffer.from(json).toString()) as Row[][];
    return rows;
  }

  /** Rows whose users are not erased, each with its sealed text. */
  private async unsealed(rows: readonly Row[]): Promise<(readonly [Row, string])[]> {
    const sealed = rows.map(({ user_hash, sealed: bytes }) => ({
      pseudonym: String(user_hash),
      bytes: String(bytes).replaceAll('\n', ''),
    }));
    const texts = rows.length === 0 ? [] : await this.options.facts.unseal(sealed);
    return rows.flatMap((row, i) => {
      const text = texts[i];
      return typeof text === 'string' ? [[row, text] as const] : [];
    });
  }
}
