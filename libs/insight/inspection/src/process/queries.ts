import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { receivedError } from '@tessera/processes';
import type { ExportedFile, ExportFormat, QueryLimits } from '../domain/inspection-store.js';
import type { LaunchedProcess, Launcher } from './launcher.js';
import type { QueryForm, QueryOrder, QueryReply } from './messages.js';

export interface QueryRules {
  /** Queries and exports at once; further ones are refused. */
  readonly countMax: number;
  /** Memory of one query beside what its process has before it. */
  readonly memoryBytes: number;
  /** Disk that one query may spill to, and that its export may take. */
  readonly diskBytes: number;
  /** Of an answer that is no export; what is more is cut. */
  readonly answerBytesMax: number;
}

export interface QueriesParts {
  /** Launcher of their processes. */
  readonly launcher: Pick<Launcher, 'start'>;
  /** Of the process, as arguments of Node. */
  readonly program: readonly string[];
  readonly rules: QueryRules;
  /** A copy of the database that is this query's own, in a folder that is too. */
  readonly snapshot: () => Promise<string>;
  /** Told of a copy that could not be removed. */
  readonly onFault: (thrown: unknown) => void;
}

/** Of the database once it is loaded, before it has read anything. */
const DATABASE_BYTES = 96 * 2 ** 20;
export const SQL_LENGTH_MAX = 20_000;
const REMOVALS_MAX = 5;

/**
 * Queries of analysts, each in a process of its own that the kernel bounds and that is killed: when
 * its time is over, when nobody wants its answer, or when a user is erased whose data it may hold.
 */
export class Queries {
  private readonly running = new Set<RunningQuery>();

  constructor(private readonly parts: QueriesParts) {}

  /** How many run, or are being fetched. */
  get count(): number {
    return this.running.size;
  }

  /**
   * The answer as JSON of a QueryResult. Rejects with REQUEST_INVALID, DEADLINE_EXCEEDED,
   * QUERY_TOO_LARGE, OPERATION_BUSY, CANCELLED, STORE_UNAVAILABLE or STORE_FULL.
   */
  async query(sql: string, limits: QueryLimits, signal?: AbortSignal): Promise<Uint8Array> {
    const query = this.begin(sql, 'json', limits, signal);
    try {
      const reply = await query.answered;
      if (reply.kind === 'answered') return reply.json;
      throw new TesseraError('INTERNAL', `expected an answer, got ${reply.kind}`);
    } finally {
      await this.end(query);
    }
  }

  /** The rows as a file, which counts as a query until it is released. Rejects as query() does. */
  async exportTo(
    sql: string,
    format: ExportFormat,
    limits: QueryLimits,
    signal?: AbortSignal,
  ): Promise<ExportedFile> {
    const query = this.begin(sql, format, limits, signal);
    try {
      const reply = await query.answered;
      if (reply.kind !== 'exported') {
        throw new TesseraError('INTERNAL', `expected a file, got ${reply.kind}`);
      }
      return { path: reply.path, ended: query.ended, release: () => this.end(query) };
    } catch (thrown) {
      await this.end(query);
      throw thrown;
    }
  }

  /** Ends all that run, with an error that asks to come again. */
  endAll(reason: string): void {
    const message = `sql: ${reason}; ask again`;
    for (const query of this.running) {
      query.stop(new TesseraError('STORE_UNAVAILABLE', message, { field: 'sql' }));
    }
  }

  private begin(
    sql: string,
    form: QueryForm,
    limits: QueryLimits,
    signal: AbortSignal | undefined,
  ): RunningQuery {
    const { rules } = this.parts;
    if (sql.length > SQL_LENGTH_MAX) {
      const message = `sql: expected at most ${SQL_LENGTH_MAX} characters, got ${sql.length}`;
      throw new TesseraError('REQUEST_INVALID', message, { field: 'sql' });
    }
    if (this.running.size >= rules.countMax) {
      const message = `sql: expected at most ${rules.countMax} queries at a time, got another`;
      throw new TesseraError('OPERATION_BUSY', message, { field: 'sql', retryAfterMs: 1000 });
    }
    const query = new RunningQuery(this.parts, { sql, form, ...limits }, signal);
    this.running.add(query);
    return query;
  }

  private async end(query: RunningQuery): Promise<void> {
    await query.removed().catch(this.parts.onFault);
    this.running.delete(query);
  }
}

interface Wanted extends QueryLimits {
  readonly sql: string;
  readonly form: QueryForm;
}

class RunningQuery {
  readonly answered: Promise<QueryReply>;
  /** Aborted when the query must end, also while its file is read. */
  private readonly ending = new AbortController();
  private readonly child: LaunchedProcess;
  private readonly late: NodeJS.Timeout;
  private path: Promise<string> | undefined;
  private settle: { resolve: (reply: QueryReply) => void; reject: (error: unknown) => void };

  constructor(
    private readonly parts: QueriesParts,
    wanted: Wanted,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.settle = { resolve: () => undefined, reject: () => undefined };
    this.answered = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    // It may be rejected before somebody looks.
    this.answered.catch(() => undefined);
    const { launcher, program, rules } = parts;
    const { memoryBytes, diskBytes } = rules;
    const dataBytes = memoryBytes + DATABASE_BYTES;
    const limits = { dataBytes, fileBytes: diskBytes };
    this.child = launcher.start(program, limits, {
      onMessage: (reply) => void this.take(reply as QueryReply),
      onEnd: (reason) => this.settle.reject(this.vanished(reason)),
      onLost: (error) => this.stop(error),
    });
    const { sql, form, rowsMax, timeoutMs } = wanted;
    this.late = setTimeout(() => this.stop(lateness(timeoutMs)), timeoutMs);
    signal?.addEventListener('abort', this.onAbort, { once: true });
    if (signal?.aborted === true) this.onAbort();
    const { answerBytesMax } = parts.rules;
    this.order({ kind: 'ask', sql, form, rowsMax, answerBytesMax, memoryBytes, diskBytes });
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
    this.child.kill();
    await this.child.exited;
    const path = await this.path?.catch(() => undefined);
    // One whose launcher ended is perhaps still ending itself, and writes until then.
    const removal = { recursive: true, force: true, maxRetries: REMOVALS_MAX };
    if (path !== undefined) await rm(dirname(path), removal);
  }

  private readonly onAbort = () => {
    this.stop(new TesseraError('CANCELLED', 'sql: the caller went away', { field: 'sql' }));
  };

  private async take(reply: QueryReply): Promise<void> {
    switch (reply.kind) {
      case 'refused':
        this.settle.reject(receivedError(reply.error));
        return;
      case 'allowed':
        await this.hand();
        return;
      default:
        clearTimeout(this.late);
        this.settle.resolve(reply);
        this.child.kill();
    }
  }

  /** Only now is there anything to read. */
  private async hand(): Promise<void> {
    if (this.ending.signal.aborted) return;
    this.path = this.parts.snapshot();
    try {
      this.order({ kind: 'data', path: await this.path });
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

function lateness(timeoutMs: number): TesseraError {
  const message = `sql: expected an answer within ${timeoutMs} ms, got none`;
  return new TesseraError('DEADLINE_EXCEEDED', message, { field: 'sql' });
}
