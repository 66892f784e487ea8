import { rm } from 'node:fs/promises';
import { TesseraError } from '@tessera/errors';
import { receivedError } from '@tessera/processes';
import type { ExportedFile, ExportFormat, QueryLimits } from '../domain/inspection-store.js';
import type { LaunchedProcess, Launcher } from './launcher.js';
import type { DataPlace, QueryEnd, QueryForm, QueryOrder, QueryReply } from './messages.js';
import { Slots } from './slots.js';
import { type SpareProcess, Spares } from './spares.js';

export interface QueryRules {
  /** Questions of pages at once, and queries of people: neither waits for the other. */
  readonly pagesMax: number;
  readonly sqlMax: number;
  /** Milliseconds that a query waits for its place, and for its process and data, at most. */
  readonly waitMs: number;
  /** Memory of one query beside what its process has before it. */
  readonly memoryBytes: number;
  /** Disk that one query may spill to, and that its export may take. */
  readonly diskBytes: number;
  /** Maximum bytes of an answer that is no export; the rest is cut. */
  readonly answerBytesMax: number;
}

export interface QueriesParts {
  /** Launcher of their processes. */
  readonly launcher: Pick<Launcher, 'start'>;
  /** Arguments of Node for the process. */
  readonly program: readonly string[];
  readonly rules: QueryRules;
  /** Folder of the query alone; of those of analysts once they are allowed. */
  readonly folder: (isOwn: boolean) => Promise<string>;
  readonly place: DataPlace;
  /** Told of a folder that could not be removed. */
  readonly onFault: (thrown: unknown) => void;
}

export const SQL_LENGTH_MAX = 20_000;
const REMOVALS_MAX = 5;

/**
 * Queries of analysts, each in a process of its own that the kernel bounds and that is killed: when
 * its time is over, when nobody wants its answer, or when a user is erased whose data it may hold.
 */
export class Queries {
  private readonly running = new Set<RunningQuery>();

  private readonly spares: Spares;
  private readonly pages: Slots;
  private readonly people: Slots;
  private isClosed = false;

  constructor(private readonly parts: QueriesParts) {
    const { pagesMax, sqlMax, waitMs } = parts.rules;
    this.spares = new Spares(parts);
    this.pages = new Slots({ countMax: pagesMax, ownMax: pagesMax, waitMs });
    this.people = new Slots({ countMax: sqlMax, ownMax: Math.max(1, sqlMax - 1), waitMs });
  }

  /** How many run, or have files that are kept. */
  get count(): number {
    return this.running.size;
  }

  /**
   * The answer as JSON of a QueryResult. Rejects with REQUEST_INVALID, DEADLINE_EXCEEDED,
   * QUERY_TOO_LARGE, OPERATION_BUSY, CANCELLED, STORE_UNAVAILABLE or STORE_FULL.
   */
  async query(sql: string, limits: QueryLimits, signal?: AbortSignal): Promise<Uint8Array> {
    return this.answerOf({ statements: [sql], form: 'json', isOwn: false }, limits, signal);
  }

  /** The rows of statements of the service itself, as JSON. Rejects as query() does. */
  rows(
    statements: readonly string[],
    limits: QueryLimits,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    return this.answerOf({ statements, form: 'rows', isOwn: true }, limits, signal);
  }

  private async answerOf(
    asked: Asked,
    limits: QueryLimits,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> {
    const { query, leave } = await this.begin(asked, limits, signal);
    try {
      const reply = await query.answered;
      if (reply.kind === 'answered') return reply.json;
      throw new TesseraError('INTERNAL', `expected an answer, got ${reply.kind}`);
    } finally {
      await this.end(query);
      leave();
    }
  }

  /** The rows as a file, which is kept until it is released. Rejects as query() does. */
  async exportTo(
    sql: string,
    format: ExportFormat,
    limits: QueryLimits,
    signal?: AbortSignal,
  ): Promise<ExportedFile> {
    const asked = { statements: [sql], form: format, isOwn: false };
    const { query, leave } = await this.begin(asked, limits, signal);
    try {
      const reply = await query.answered;
      if (reply.kind !== 'exported') {
        throw new TesseraError('INTERNAL', `expected a file, got ${reply.kind}`);
      }
      return { path: reply.path, ended: query.ended, release: () => this.end(query) };
    } catch (thrown) {
      await this.end(query);
      throw thrown;
    } finally {
      leave();
    }
  }

  /** A process is ready for the first one. */
  open(): void {
    this.spares.prepare();
  }

  /** Ends all, and takes no more. */
  close(): void {
    this.isClosed = true;
    this.spares.close();
    this.endAll('the service is being closed');
  }

  /** Ends all that run, with an error that asks to come again. */
  endAll(reason: string): void {
    this.spares.renew();
    const message = `sql: ${reason}; ask again`;
    for (const query of this.running) {
      query.stop(new TesseraError('STORE_UNAVAILABLE', message, { field: 'sql' }));
    }
  }

  private async begin(asked: Asked, limits: QueryLimits, signal: AbortSignal | undefined) {
    const [sql = ''] = asked.statements;
    if (!asked.isOwn && sql.length > SQL_LENGTH_MAX) {
      const message = `sql: expected at most ${SQL_LENGTH_MAX} characters, got ${sql.length}`;
      throw new TesseraError('REQUEST_INVALID', message, { field: 'sql' });
    }
    const { rowsMax, timeoutMs, asker } = limits;
    const wanted = Object.assign({ askedMs: Date.now(), rowsMax, timeoutMs }, asked);
    const leave =
      asker === undefined
        ? await this.pages.take('', signal)
        : await this.people.take(asker, signal);
    try {
      if (this.isClosed) throw closed();
      const query = new RunningQuery(this.parts, this.spares, wanted, signal);
      this.running.add(query);
      return { query, leave };
    } catch (thrown) {
      leave();
      throw thrown;
    }
  }

  private async end(query: RunningQuery): Promise<void> {
    await query.removed().catch(this.parts.onFault);
    this.running.delete(query);
    this.spares.prepare();
  }
}

interface Asked {
  readonly statements: readonly string[];
  readonly form: QueryForm;
  readonly isOwn: boolean;
}

interface Wanted extends Asked, Pick<QueryLimits, 'rowsMax' | 'timeoutMs'> {
  readonly askedMs: number;
}

class RunningQuery {
  readonly answered: Promise<QueryEnd>;
  /** Aborted when the query must end, also while its file is read. */
  private readonly ending = new AbortController();
  private readonly process: SpareProcess;
  private readonly child: LaunchedProcess;
  /** It has answered, nothing of the query is left in it, and another one has its memory. */
  private isReusable = false;
  private late: NodeJS.Timeout;
  private folder: Promise<string> | undefined;
  private settle: { resolve: (end: QueryEnd) => void; reject: (error: unknown) => void };

  constructor(
    private readonly parts: QueriesParts,
    private readonly spares: Spares,
    private readonly wanted: Wanted,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.settle = { resolve: () => undefined, reject: () => undefined };
    this.answered = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    // It may be rejected before somebody looks.
    this.answered.catch(() => undefined);
    this.process = spares.take();
    this.child = this.process.serve({
      onMessage: (reply) => void this.take(reply as QueryReply),
      onEnd: (reason) => this.settle.reject(this.vanished(reason)),
      onLost: (error) => this.stop(error),
    });
    const waitMs = Math.max(parts.rules.waitMs, wanted.timeoutMs);
    this.late = setTimeout(() => this.stop(lateness('a process and its data', waitMs)), waitMs);
    signal?.addEventListener('abort', this.onAbort, { once: true });
    if (signal?.aborted === true) this.onAbort();
    const { answerBytesMax, memoryBytes, diskBytes } = parts.rules;
    const { statements, isOwn, askedMs, form, rowsMax } = wanted;
    const asked = { statements, isOwn, askedMs, form, rowsMax };
    this.order(
      Object.assign({ kind: 'ask' as const, answerBytesMax, memoryBytes, diskBytes }, asked),
    );
  }

  get ended(): AbortSignal {
    return this.ending.signal;
  }

  /** Killed, not asked. */
  stop(error: TesseraError): void {
    this.settle.reject(error);
    this.ending.abort(error);
    this.child.kill();
  }

  /** Its process has gone, and its folder with it. */
  async removed(): Promise<void> {
    clearTimeout(this.late);
    this.signal?.removeEventListener('abort', this.onAbort);
    const isWhole = this.isReusable && !this.ending.signal.aborted;
    const isKept = isWhole && this.spares.giveBack(this.process);
    if (!isKept) {
      this.child.kill();
      await this.child.exited;
    }
    const folder = await this.folder?.catch(() => undefined);
    // One whose launcher ended is perhaps still ending itself, and writes until then.
    const removal = { recursive: true, force: true, maxRetries: REMOVALS_MAX };
    if (folder !== undefined) await rm(folder, removal);
  }

  private readonly onAbort = () => {
    this.stop(new TesseraError('CANCELLED', 'sql: the caller went away', { field: 'sql' }));
  };

  private async take(reply: QueryReply): Promise<void> {
    switch (reply.kind) {
      case 'refused':
        this.isReusable = reply.hasRoom && reply.error.code === 'REQUEST_INVALID';
        this.settle.reject(receivedError(reply.error));
        return;
      case 'allowed':
        await this.hand();
        return;
      default:
        clearTimeout(this.late);
        this.isReusable = reply.hasRoom;
        this.settle.resolve(reply);
    }
  }

  /** Only now is there anything to read. */
  private async hand(): Promise<void> {
    if (this.ending.signal.aborted) return;
    const { folder, place } = this.parts;
    this.folder = folder(this.wanted.isOwn);
    try {
      const data = { folder: await this.folder, place };
      // Only now does the work begin: the time for it does not count what came before.
      clearTimeout(this.late);
      const { timeoutMs } = this.wanted;
      if (this.ending.signal.aborted) return;
      this.late = setTimeout(() => this.stop(lateness('an answer', timeoutMs)), timeoutMs);
      this.order(Object.assign({ kind: 'data' as const }, data));
    } catch (thrown) {
      this.settle.reject(thrown);
    }
  }

  private order(order: QueryOrder): void {
    this.child.send(order);
  }

  private vanished(reason: string): TesseraError {
    const { memoryBytes } = this.parts.rules;
    const message =
      `sql: expected a query that takes at most ${memoryBytes} bytes of memory, got one whose ` +
      `process ended${reason === '' ? '' : `: ${reason}`}`;
    return new TesseraError('QUERY_TOO_LARGE', message, { field: 'sql' });
  }
}

const closed = () => new TesseraError('STORE_UNAVAILABLE', 'sql: the service is being closed');

function lateness(what: string, timeoutMs: number): TesseraError {
  const message = `sql: expected ${what} within ${timeoutMs} ms, got none`;
  return new TesseraError('DEADLINE_EXCEEDED', message, { field: 'sql' });
}
