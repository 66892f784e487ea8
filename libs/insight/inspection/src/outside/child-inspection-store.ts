import { Erasures } from '@tessera/erasure';
import { ChildLink, CLOSE_MS, jsonRows, WriteQueue } from '@tessera/processes';
import {
  type ExportedFile,
  type ExportFormat,
  InspectionStore,
  type QueryLimits,
  type RecallFilter,
  type RecordedChange,
  type Shelf,
  type StoreCondition,
  type StoreState,
} from '../domain/inspection-store.js';
import type { Pulse } from '../domain/pulse.js';
import type { RecordableRecall } from '../domain/recordable.js';
import type { RecallSummary, RecordedRecall } from '../domain/recorded-recall.js';
import { Launcher } from '../process/launcher.js';
import type { FactPlace } from '../process/messages.js';
import { Queries, type QueryRules } from '../process/queries.js';
import type { RecorderMethods } from '../process/recorder-server.js';
import { changeRow } from './change-rows.js';
import type { RecallBatch, RecorderOptions } from './duckdb-recorder.js';
import { itemRows, recallRow, TABLE_NAMES } from './duckdb-tables.js';
import { queryFolder } from './snapshots.js';

export interface ChildStoreOptions extends RecorderOptions {
  /** Program of each kind of process: `recorder`, `launcher` or `query`, then its niceness. */
  readonly program: string;
  /** How far they are behind what serves: 0, as this process, to 19. */
  readonly niceness: { readonly recorder: number; readonly query: number };
  /** Recalls that wait to be written at most. */
  readonly queueMax: number;
  readonly queries: QueryRules;
  /** Facts that queries read as well; left out: none. */
  readonly facts?: FactPlace;
  /** Told how recalls fared: written, dropped (no room, or their user was erased) or failed. */
  readonly onRecords: (outcome: RecordOutcome, count: number) => void;
  /** Told of what could not be written or removed, and of processes that ended. */
  readonly onFault: (thrown: unknown) => void;
}

export type RecordOutcome = 'written' | 'dropped' | 'failed';

/**
 * Of recalls that are written at once: one transaction, one statement per table. A transaction
 * costs as much as some fifty recalls in it, so they wait for each other, unless somebody looks.
 * They are one message to the other process, which holds this one's thread for some 2 ms.
 */
/**
 * Of a query's process, in MiB. V8 lets its young generation grow to more than 100 MiB while an
 * export makes garbage, sooner on a busy machine: that would be of the memory of the query.
 */
const YOUNG_HEAP = '--max-semi-space-size=4';

const BATCH_MAX = 128;
const GATHER_MS = 1000;
const PULSES_WAITING_MAX = 100;
const CHANGES_WAITING_MAX = 1000;
/** Processes that may end over one batch before it is given up. */
const ATTEMPTS_MAX = 3;

interface Offered {
  readonly recall: RecordableRecall;
  /** Of the erasures, when it was offered. */
  readonly mark: number;
}

/**
 * Recorded recalls in a process of their own, and queries in one for each (ADR 0070): whatever they
 * do, this process goes on. While the one that records is away, recalls wait in the bounded queue.
 */
export class ChildInspectionStore extends InspectionStore {
  readonly shelf: Shelf;
  private readonly erasures = new Erasures();
  private readonly listeners: ((userId: string) => void)[] = [];
  private readonly recallQueue: WriteQueue<Offered>;
  private readonly pulseQueue: WriteQueue<Pulse>;
  private readonly changeQueue: WriteQueue<RecordedChange>;
  private readonly launcher: Launcher;
  private readonly queries: Queries;
  private readonly link: ChildLink<RecorderMethods>;
  private readonly counts = { written: 0, dropped: 0, failed: 0 };

  /**
   * Resolves also where the store cannot be opened, which `onFault` gets and condition() says:
   * it is tried again.
   */
  static async open(options: ChildStoreOptions): Promise<ChildInspectionStore> {
    const store = new ChildInspectionStore(options);
    store.launcher.open();
    await store.link.start();
    return store;
  }

  private constructor(private readonly options: ChildStoreOptions) {
    super();
    const { program, niceness, queries: rules, facts, onFault } = options;
    const { path, memoryBytes, retention } = options;
    this.link = new ChildLink({
      does: 'records recalls',
      program: [program, 'recorder', String(niceness.recorder)],
      options: { path, memoryBytes, retention },
      onFault,
    });
    this.launcher = new Launcher([program, 'launcher', String(niceness.recorder)]);
    this.queries = new Queries({
      launcher: this.launcher,
      program: [YOUNG_HEAP, program, 'query', String(niceness.query)],
      rules,
      snapshot: () => this.snapshot(),
      folder: () => queryFolder(path),
      tables: TABLE_NAMES,
      facts,
      onFault,
    });
    this.shelf = shelfOver(this.link);
    const gathering = {
      batchMax: BATCH_MAX,
      gatherMs: GATHER_MS,
      onWritten: () => undefined,
      onFailed: (_count: number, thrown: unknown) => onFault(thrown),
    };
    this.recallQueue = new WriteQueue({
      ...gathering,
      waitingMax: options.queueMax,
      write: (batch) => this.writeRecalls(batch),
      onFailed: (count, thrown) => {
        this.count('failed', count);
        onFault(thrown);
      },
    });
    this.pulseQueue = new WriteQueue({
      ...gathering,
      waitingMax: PULSES_WAITING_MAX,
      write: (batch) => this.writePulses(batch),
    });
    this.changeQueue = new WriteQueue({
      ...gathering,
      waitingMax: CHANGES_WAITING_MAX,
      write: (batch) => this.writeChanges(batch),
    });
  }

  /** Of the process that records; undefined while there is none. */
  get recorderProcessId(): number | undefined {
    return this.link.processId;
  }

  /** Of the process that starts those of queries; undefined while there is none. */
  get launcherProcessId(): number | undefined {
    return this.launcher.processId;
  }

  /** Queries that run, or whose files are being read. */
  get queryCount(): number {
    return this.queries.count;
  }

  offer(recall: RecordableRecall): boolean {
    const isTaken = this.recallQueue.offer({ recall, mark: this.erasures.mark });
    if (!isTaken) this.count('dropped', 1);
    return isTaken;
  }

  offerPulse(pulse: Pulse): boolean {
    return this.pulseQueue.offer(pulse);
  }

  offerChange(change: RecordedChange): boolean {
    return this.changeQueue.offer(change);
  }

  /** Does not wait for a process that is away. */
  async settled(): Promise<void> {
    const { recallQueue, pulseQueue, changeQueue } = this;
    const written = [recallQueue.settled(), pulseQueue.settled(), changeQueue.settled()];
    await Promise.race([Promise.all(written), this.link.untilDown()]);
  }

  recalls(filter: RecallFilter): Promise<readonly RecallSummary[]> {
    return this.link.call('recalls', filter);
  }

  recall(id: string): Promise<RecordedRecall | undefined> {
    return this.link.call('recall', id);
  }

  changes(limit: number): Promise<readonly RecordedChange[]> {
    return this.link.call('changes', limit);
  }

  pulses(fromMs: number): Promise<readonly Pulse[]> {
    return this.link.call('pulses', fromMs);
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
    await this.settled();
    // From here on nothing that was offered before is sent; what has been is written before this.
    this.erasures.note(userId);
    for (const listener of this.listeners) listener(userId);
    const count = await this.link.call('eraseUser', userId);
    this.queries.endAll('a user was erased whose data the query may hold');
    return count;
  }

  onErasure(listener: (userId: string) => void): void {
    this.listeners.push(listener);
  }

  async state(): Promise<StoreState> {
    const sizes = await this.link.call('sizes');
    return { ...sizes, queued: this.recallQueue.length, ...this.counts };
  }

  condition(): StoreCondition {
    const reason = this.link.fault;
    return reason === '' ? { state: 'ok', reason } : { state: 'down', reason };
  }

  /** Removes what is too old or too much; by itself once a minute. */
  retain(nowMs: number): Promise<void> {
    return this.link.call('retain', nowMs);
  }

  /** Gives up, says and counts as failed all that is not written when the time is over. */
  async close(budgetMs = CLOSE_MS): Promise<void> {
    this.queries.close();
    this.launcher.close();
    const { recallQueue, pulseQueue, changeQueue } = this;
    const closed = [recallQueue.close(), pulseQueue.close(), changeQueue.close()];
    const written = Promise.all(closed);
    await this.link.close(budgetMs, () => written);
    await written;
  }

  /**
   * With all that was offered before, which is written at once for it: asked for only by queries
   * that are allowed, so that those that are refused write nothing.
   */
  private async snapshot(): Promise<string> {
    await this.settled();
    return this.link.call('snapshot');
  }

  private count(outcome: RecordOutcome, count: number): void {
    if (count === 0) return;
    this.counts[outcome] += count;
    this.options.onRecords(outcome, count);
  }

  /** Again where the process ended meanwhile: it may have written them, or not. */
  private async writeRecalls(batch: readonly Offered[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await this.link.untilOpen();
      const { kept, recalls, items } = await this.readied(batch);
      const [first] = kept;
      try {
        if (first !== undefined) {
          const firstId = first.recall.id;
          const made = { recalls: recalls.text, items: items.text, itemCount: items.count };
          const sent: RecallBatch = { ...made, firstId, isRepeat: attempt > 1 };
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

  /** Of the recalls those whose users are still there when the rows are. */
  private async readied(batch: readonly Offered[]) {
    const isKept = ({ recall, mark }: Offered) =>
      !this.erasures.isErasedSince(recall.request.userId, mark);
    for (;;) {
      const kept = batch.filter(isKept);
      const recalls = await jsonRows(kept, ({ recall }) => [recallRow(recall)]);
      const items = await jsonRows(kept, ({ recall }) => itemRows(recall));
      if (kept.every(isKept)) return { kept, recalls, items };
    }
  }

  private async writePulses(batch: readonly Pulse[]): Promise<void> {
    const rows = batch.map((pulse) => ({ time: pulse.timeMs, detail: JSON.stringify(pulse) }));
    await this.link.untilOpen();
    await this.link.call('writePulses', JSON.stringify(rows));
  }

  private async writeChanges(batch: readonly RecordedChange[]): Promise<void> {
    await this.link.untilOpen();
    await this.link.call('writeChanges', JSON.stringify(batch.map(changeRow)));
  }
}

/** Work of analysts lies with the recalls. */
function shelfOver(link: ChildLink<RecorderMethods>): Shelf {
  const call = (name: keyof Shelf, ...values: readonly unknown[]) =>
    link.callNamed(`shelf.${name}`, values) as Promise<never>;
  return {
    notes: (recallId) => call('notes', recallId),
    addNote: (note) => call('addNote', note),
    removeNote: (id) => call('removeNote', id),
    savedSets: () => call('savedSets'),
    saveSet: (set) => call('saveSet', set),
    removeSet: (name) => call('removeSet', name),
    comparisons: () => call('comparisons'),
    comparison: (id) => call('comparison', id),
    saveComparison: (comparison) => call('saveComparison', comparison),
    removeComparison: (id) => call('removeComparison', id),
  };
}
