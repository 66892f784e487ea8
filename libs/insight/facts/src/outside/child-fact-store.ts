import { randomBytes } from 'node:crypto';
import { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { ChildLink, CLOSE_MS, jsonRows, WriteQueue } from '@tessera/processes';
import type {
  FactBehaviour,
  FactOutcome,
  FactSink,
  FactState,
  LostRows,
} from '../domain/fact-store.js';
import type { RowTableName } from '../domain/fact-tables.js';
import { type EndedRecall, RecallIds, recallFact } from '../domain/recall-facts.js';
import type { FactMethods } from '../process/facts-server.js';
import { keepLostRows, type RowCounts, takeLostRows } from './fact-folder.js';
import type { Appended, FactWriterOptions } from './fact-writer.js';
import type { ItemBatch } from './item-versions.js';
import type { RecordedSizes } from './recorded-rows.js';
import type { SealedText } from './seals.js';
import type { VersionRow } from './versions.js';

export interface FactStoreOptions extends FactWriterOptions {
  /** Arguments of Node for the process that writes. */
  readonly program: readonly string[];
  /** Rows that wait to be handed over at most. */
  readonly queueMax: number;
  /** Bytes of a file that the process may write; left out: any. */
  readonly fileBytesMax?: number;
  /** Told how rows fared, those of recorded recalls with `recalls`. */
  readonly onFacts: (outcome: FactOutcome, count: number, table: RowTableName) => void;
  /** Told of what could not be written, and of processes that ended. */
  readonly onFault: (thrown: unknown) => void;
}

const BATCH_MAX = 512;
/** Recorded recalls that are one message to the process, which holds this one's thread 2 ms. */
const RECORDED_BATCH_MAX = 128;
/** Recorded recalls that wait: some seconds of a busy node, each with its tree. */
const RECORDED_MAX = 1000;
const GATHER_MS = 1000;
const MINUTE_MS = 60_000;
/** Milliseconds until a disk that took nothing is tried again. */
const RETRY_MS = 10_000;

interface Offered {
  readonly table: RowTableName;
  readonly userId: string;
  /** Mark of the erasures when the row was offered. */
  readonly mark: number;
  /** The row but for its user; made when it is handed over. */
  readonly row: () => object;
  /** Texts of the row that are sealed. */
  readonly secrets?: () => readonly string[];
}

/**
 * Facts on their way to the process that writes them (ADR 0149). Rows wait in a bounded queue and
 * are handed over together once a second; no recall waits for them.
 */
export class ChildFactStore implements FactSink {
  private readonly erasures = new Erasures();
  private readonly queue: WriteQueue<Offered>;
  private readonly recordedQueue: WriteQueue<Offered>;
  private readonly link: ChildLink<FactMethods>;
  private readonly ids = new RecallIds(randomBytes(8).toString('hex'));
  private readonly lost = new Map<string, LostRows>();
  /** Recorded recalls by what became of them. */
  readonly recordedCounts = { written: 0, dropped: 0, failed: 0 };
  private fault = '';
  /** Rows that the process has in memory alone. */
  private waitingRows: RowCounts = {};
  private beat: NodeJS.Timeout | undefined;

  /** Resolves also where the folder cannot be opened, which `onFault` gets: it is tried again. */
  static async open(options: FactStoreOptions): Promise<ChildFactStore> {
    const store = new ChildFactStore(options);
    await store.link.start();
    store.countAll(await takeLostRows(options.path));
    store.beatIn(MINUTE_MS);
    return store;
  }

  private constructor(private readonly options: FactStoreOptions) {
    const { program, onFault, queueMax, fileBytesMax } = options;
    const { path, node, memoryBytes, keepMs, keepBytes } = options;
    const { fileRowsMax, waitingRowsMax, graceMs } = options;
    const kept = { path, node, memoryBytes, keepMs, keepBytes };
    this.link = new ChildLink({
      does: 'writes facts',
      program,
      limits: fileBytesMax === undefined ? {} : { fileBytes: fileBytesMax },
      options: { ...kept, fileRowsMax, waitingRowsMax, graceMs } satisfies FactWriterOptions,
      onFault: (thrown) => {
        this.loseWaiting();
        onFault(thrown);
      },
    });
    const queueOf = (batchMax: number, waitingMax: number) =>
      new WriteQueue<Offered>({
        batchMax,
        gatherMs: GATHER_MS,
        waitingMax,
        write: (batch) => this.handOver(batch),
        onWritten: () => undefined,
        onFailed: (_count, thrown) => onFault(thrown),
      });
    this.queue = queueOf(BATCH_MAX, queueMax);
    this.recordedQueue = queueOf(RECORDED_BATCH_MAX, Math.min(queueMax, RECORDED_MAX));
  }

  /** ID of the process that writes; undefined while there is none. */
  get processId(): number | undefined {
    return this.link.processId;
  }

  /** Folder of the facts. */
  get path(): string {
    return this.options.path;
  }

  offerRecall(recall: EndedRecall): boolean {
    const { node } = this.options;
    const id = this.ids.next(recall.timeMs);
    const row = () => recallFact(recall, id, node);
    return this.offer('recall_fact', recall.request.userId ?? '', row);
  }

  offerBehaviours(behaviours: readonly FactBehaviour[]): void {
    for (const behaviour of behaviours) {
      const { userId, itemId, action, timeMs, scene, requestId = '', position = 0 } = behaviour;
      this.offer('behaviour', userId, () => ({
        time: timeMs,
        item_id: itemId,
        action,
        scene,
        request_id: requestId,
        position,
      }));
    }
  }

  offerRow(table: Exclude<RowTableName, 'recall_fact' | 'behaviour'>, row: object): boolean {
    return this.offer(table, '', () => row);
  }

  /** A row of `recalls` but for its user, and the texts that are sealed for them. */
  offerRecorded(userId: string, row: () => object, secrets: () => readonly string[]): boolean {
    return this.offer('recalls', userId, row, secrets);
  }

  /** Recorded recalls that wait to be handed over. */
  get recordedWaiting(): number {
    return this.recordedQueue.length;
  }

  /** Rows that nobody had room for before they were offered. */
  noteDropped(table: RowTableName, count: number): void {
    this.count('dropped', count, table);
  }

  applyItems(batch: ItemBatch): Promise<void> {
    return this.link.call('applyItems', batch);
  }

  /** All items of a catalogue, page by page. */
  async replaceItems(batch: Omit<ItemBatch, 'items'>, pages: AsyncIterable<string>): Promise<void> {
    await this.link.call('beginItems');
    for await (const page of pages) await this.link.call('addItems', page);
    await this.link.call('endItems', batch);
  }

  noteVersions(rows: readonly VersionRow[]): Promise<void> {
    return this.link.call('noteVersions', rows);
  }

  /**
   * All that was offered before is in files, or counted as lost.
   * @param only the table whose rows somebody wants to see; left out: all
   */
  async flush(only?: RowTableName): Promise<void> {
    const handedOver = Promise.all([this.queue.settled(), this.recordedQueue.settled()]);
    await Promise.race([handedOver, this.link.untilDown()]);
    this.note(await this.link.call('flush', Date.now(), only));
  }

  /** Merges and deletes files, as happens by itself once a minute. */
  tidy(nowMs: number): Promise<void> {
    return this.link.call('tidy', nowMs);
  }

  /** The pseudonym of a user; undefined: the facts have nothing of them. */
  async pseudonym(userId: string): Promise<string | undefined> {
    return this.link.call('find', userId);
  }

  /**
   * Nothing links the facts to the user when it resolves: the key is gone, and rows that wait are
   * written without a user.
   */
  async eraseUser(userId: string): Promise<boolean> {
    this.erasures.note(userId);
    return this.link.call('forget', userId);
  }

  /** Texts that were sealed, in their order; null: their user was erased. */
  unseal(texts: readonly SealedText[]): Promise<(string | null)[]> {
    return this.link.call('unseal', texts);
  }

  /**
   * Nothing that waits is kept of the user. Resolves with the IDs of their recorded recalls, which
   * eraseUser() closes for ever.
   */
  async beginErasure(userId: string): Promise<readonly string[]> {
    await Promise.race([this.recordedQueue.settled(), this.link.untilDown()]);
    this.erasures.note(userId);
    return this.link.call('recordedOf', userId);
  }

  async recorded(): Promise<RecordedSizes> {
    return (await this.link.call('sizes')).recorded;
  }

  async state(): Promise<FactState> {
    const { bytes, files, oldestMs, fault } = await this.link.call('sizes');
    return { bytes, files, oldestMs, fault, lost: [...this.lost.values()] };
  }

  /** Cheap; '' where facts are written. */
  condition(): string {
    return this.link.fault || this.fault;
  }

  /** Rows that are in no file when the time is over are counted, by the next start as well. */
  async close(budgetMs = CLOSE_MS): Promise<void> {
    clearTimeout(this.beat);
    const before = new Map(this.lost);
    const written = Promise.all([this.queue.close(), this.recordedQueue.close()]);
    await this.link.close(budgetMs, async () => {
      await written;
      this.note(await this.link.call('flush', Date.now()));
    });
    await written;
    const counts: Record<string, number> = Object.assign({}, this.waitingRows);
    for (const { table, rows } of this.lost.values()) {
      counts[table] = (counts[table] ?? 0) + rows - (before.get(table)?.rows ?? 0);
    }
    const lost = Object.values(counts).reduce((sum, count) => sum + count, 0);
    if (lost === 0) return;
    const message = `facts: expected all rows in files at the end, got ${lost} rows lost`;
    this.options.onFault(new TesseraError('DEADLINE_EXCEEDED', message));
    await keepLostRows(this.options.path, counts).catch(this.options.onFault);
  }

  /** A minute after the last; sooner where the disk took nothing. */
  private beatIn(ms: number): void {
    const write = async () => {
      this.note(await this.link.call('flush', Date.now()));
      await this.tidy(Date.now());
    };
    const next = () => this.beatIn(this.fault === '' ? MINUTE_MS : RETRY_MS);
    this.beat = setTimeout(() => void write().catch(this.options.onFault).then(next), ms);
    this.beat.unref();
  }

  private note({ fault, waiting }: Appended): void {
    this.fault = fault;
    this.waitingRows = waiting;
  }

  private loseWaiting(): void {
    this.countAll(this.waitingRows);
    this.waitingRows = {};
  }

  private countAll(counts: RowCounts): void {
    for (const [table, count] of Object.entries(counts)) {
      this.count('dropped', count, table as RowTableName);
    }
  }

  private offer(
    table: RowTableName,
    userId: string,
    row: () => object,
    secrets?: () => readonly string[],
  ): boolean {
    const { mark } = this.erasures;
    const queue = table === 'recalls' ? this.recordedQueue : this.queue;
    const isTaken = queue.offer({ table, userId, mark, row, ...(secrets && { secrets }) });
    if (!isTaken) this.count('dropped', 1, table);
    return isTaken;
  }

  private count(outcome: FactOutcome, count: number, table: RowTableName): void {
    if (count === 0) return;
    if (outcome !== 'written') {
      const { rows = 0, sinceMs = Date.now() } = this.lost.get(table) ?? {};
      this.lost.set(table, { table, rows: rows + count, sinceMs });
    }
    if (table === 'recalls') this.recordedCounts[outcome] += count;
    this.options.onFacts(outcome, count, table);
  }

  private async handOver(batch: readonly Offered[]): Promise<void> {
    const tables = Map.groupBy(batch, (one) => one.table);
    try {
      for (const [table, offered] of tables) {
        await this.handOverRows(table, offered);
        tables.delete(table);
      }
    } finally {
      // Tables that a fault has kept from the process.
      for (const [table, { length }] of tables) this.count('failed', length, table);
    }
  }

  private async handOverRows(table: RowTableName, offered: readonly Offered[]): Promise<void> {
    const { kept, rows, secrets } = await this.readied(offered);
    this.count('dropped', offered.length - kept.length, table);
    if (kept.length === 0) return;
    const userIds = kept.map((one) => (this.isErased(one) ? '' : one.userId));
    const sent = { table, rows, count: kept.length, userIds, secrets };
    const appended = await this.link.call('append', sent);
    this.note(appended);
    const { lost, fault } = appended;
    this.count('written', kept.length - lost, table);
    this.count('failed', lost, table);
    if (lost > 0) this.options.onFault(new TesseraError('STORE_FULL', fault));
  }

  /**
   * Rows made ready, and the process with them: nobody is named behind it who was erased
   * meanwhile. A fact loses its user then; a row with sealed texts goes with them.
   */
  private async readied(offered: readonly Offered[]) {
    const isKept = (one: Offered) => one.secrets === undefined || !this.isErased(one);
    for (;;) {
      const kept = offered.filter(isKept);
      const numbered = kept.map((one, user) => ({ one, user }));
      const rows = await jsonRows(numbered, ({ one, user }) => [
        Object.assign({ user }, one.row()),
      ]);
      const secrets = kept.flatMap((one) => (one.secrets === undefined ? [] : [one.secrets()]));
      await this.link.untilOpen();
      if (kept.every(isKept)) return { kept, rows: rows.text, secrets };
    }
  }

  private isErased({ userId, mark }: Offered): boolean {
    return this.erasures.isErasedSince(userId, mark);
  }
}
