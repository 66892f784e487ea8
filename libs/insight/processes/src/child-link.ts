import type { ChildProcess } from 'node:child_process';
import { TesseraError } from '@tessera/errors';
import { withinMs } from '@tessera/turns';
import { AnswerWatch } from './answer-watch.js';
import { type ChildLimits, startLimited } from './child-limits.js';
import { type ChildReply, PING } from './child-server.js';
import { receivedError } from './sent-error.js';

export interface ChildLinkParts {
  /** Its role, for messages: `records recalls`. */
  readonly does: string;
  /** Arguments of Node for the process. */
  readonly program: readonly string[];
  /** Left out: none. */
  readonly limits?: ChildLimits;
  /** Milliseconds between two questions whether it answers; left out: five seconds. */
  readonly pingMs?: number;
  /** The values of its first call, `open`. */
  readonly options: unknown;
  /** Told when the process ended unexpectedly or could not open the store. */
  readonly onFault: (error: TesseraError) => void;
}

/** Calls that wait for their answer at most; further ones are refused. */
const CALLS_MAX = 256;
/** Milliseconds before a process that has ended is started again; doubled up to the largest. */
const RESTART_MS_MIN = 200;
const RESTART_MS_MAX = 30_000;
/** Milliseconds of a close that nothing else bounds. */
export const CLOSE_MS = 8000;
/** Milliseconds of a close that ending the process by a signal takes. */
const KILL_MS = 500;

type State = 'starting' | 'open' | 'down' | 'closed';

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: TesseraError) => void;
}

/** Methods of a child, each of which answers with a promise. */
type Methods<Served> = {
  [Name in keyof Served]: (...values: never[]) => Promise<unknown>;
};

/**
 * A process that writes a store, seen from the service: calls that are answered in their order, and
 * a new process when it has ended. Its first call is `open`, its last `close`.
 */
export class ChildLink<Served extends Methods<Served>> {
  private state: State = 'starting';
  private reason = 'the store is being opened';
  private child: ChildProcess | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private lastNumber = 0;
  private restartMs = RESTART_MS_MIN;
  private restart: NodeJS.Timeout | undefined;
  private watch: AnswerWatch | undefined;
  /** Listeners of those who wait for `open` or `closed`. */
  private listeners: (() => void)[] = [];

  constructor(private readonly parts: ChildLinkParts) {}

  /** Resolves once the first process has opened the store, or has failed to. */
  start(): Promise<void> {
    return this.launch();
  }

  /** '' where the store is open. */
  get fault(): string {
    return this.state === 'open' ? '' : this.reason;
  }

  get isOpen(): boolean {
    return this.state === 'open';
  }

  /** The number of the process; undefined where none runs. */
  get processId(): number | undefined {
    return this.child?.pid;
  }

  /** Resolves when the store is open; rejects with STORE_UNAVAILABLE once it is closed. */
  async untilOpen(): Promise<void> {
    while (this.state !== 'open') {
      if (this.state === 'closed') throw this.unavailable();
      await this.untilChange();
    }
  }

  /** Resolves when the store is not open any more. */
  async untilDown(): Promise<void> {
    while (this.state === 'open') await this.untilChange();
  }

  /**
   * Rejects with what the process rejects with, STORE_UNAVAILABLE where there is none or it ends
   * before its answer, OPERATION_BUSY where too many calls wait.
   */
  async call<Name extends keyof Served & string>(
    method: Name,
    ...values: Parameters<Served[Name]>
  ): Promise<Awaited<ReturnType<Served[Name]>>> {
    return (await this.callNamed(method, values)) as Awaited<ReturnType<Served[Name]>>;
  }

  /** Calls as call() does, by a composed name. */
  async callNamed(method: string, values: readonly unknown[]): Promise<unknown> {
    if (this.state !== 'open') throw this.unavailable();
    if (this.waiting.size >= CALLS_MAX) {
      const message = `inspection: expected at most ${CALLS_MAX} calls, got another`;
      throw new TesseraError('OPERATION_BUSY', message, { field: 'inspection' });
    }
    return this.send(method, values);
  }

  /**
   * Ends the process when `lastCalls` and its own close have been answered, or when the time is
   * over: it does not outlast `budgetMs`.
   */
  async close(budgetMs: number, lastCalls: () => Promise<unknown>): Promise<void> {
    clearTimeout(this.restart);
    this.watch?.end();
    const orderly = async () => {
      await lastCalls();
      await this.send('close', []);
    };
    if (this.state === 'open') {
      const work = Promise.race([orderly(), this.untilDown()]);
      await withinMs(Math.max(0, budgetMs - KILL_MS), work).catch(() => undefined);
    }
    const { child } = this;
    this.change('closed', 'the store was closed');
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
    });
    child.kill('SIGKILL');
    await ended;
  }

  private async launch(): Promise<void> {
    const { program, options, onFault, limits = {} } = this.parts;
    this.change('starting', 'the store is being opened');
    const child = startLimited(program, limits);
    this.child = child;
    child.on('message', (reply) => this.settle(reply as ChildReply));
    child.on('error', (cause) => this.ended(child, `it could not be started: ${cause.message}`));
    child.once('exit', (code, signal) => this.ended(child, `it ended with ${signal ?? code}`));
    this.watch = this.watched(child);
    try {
      await this.send('open', [options]);
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (this.state !== 'starting' || this.child !== child) return;
      this.change('down', error.message);
      onFault(error);
      child.kill('SIGKILL');
      return;
    }
    this.restartMs = RESTART_MS_MIN;
    this.change('open', '');
  }

  /** A process that stands still holds its callers: it is ended, which begins another one. */
  private watched(child: ChildProcess): AnswerWatch {
    this.watch?.end();
    const watch: AnswerWatch = new AnswerWatch(child, {
      pingMs: this.parts.pingMs,
      ask: () =>
        this.send(PING, []).then(
          () => watch.answered(),
          () => undefined,
        ),
      onSilent: (how) => this.ended(child, how),
    });
    return watch;
  }

  private ended(child: ChildProcess, how: string): void {
    if (this.child !== child) return;
    this.watch?.end();
    this.child = undefined;
    const reason = `the process that ${this.parts.does} is not there: ${how}`;
    const error = new TesseraError('STORE_UNAVAILABLE', reason);
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
    if (this.state === 'closed') return;
    if (this.state !== 'down') {
      this.change('down', reason);
      this.parts.onFault(error);
    }
    this.restart = setTimeout(() => void this.launch(), this.restartMs);
    this.restart.unref();
    this.restartMs = Math.min(RESTART_MS_MAX, this.restartMs * 2);
  }

  private send(method: string, values: readonly unknown[]): Promise<unknown> {
    const number = ++this.lastNumber;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      const { child } = this;
      if (child === undefined || !child.connected) {
        this.fail(number);
        return;
      }
      child.send({ number, method, values }, (error) => {
        if (error !== null) this.fail(number);
      });
    });
  }

  private fail(number: number): void {
    this.waiting.get(number)?.reject(this.unavailable());
    this.waiting.delete(number);
  }

  private settle(reply: ChildReply): void {
    const waiting = this.waiting.get(reply.number);
    this.waiting.delete(reply.number);
    if ('error' in reply) waiting?.reject(receivedError(reply.error));
    else waiting?.resolve(reply.answer);
  }

  private unavailable(): TesseraError {
    const message = `inspection.path: expected a store that is open; ${this.reason}`;
    return new TesseraError('STORE_UNAVAILABLE', message, { field: 'inspection.path' });
  }

  private change(state: State, reason: string): void {
    if (this.state === 'closed') return;
    this.state = state;
    this.reason = reason;
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }

  private untilChange(): Promise<void> {
    return new Promise((resolve) => {
      this.listeners.push(resolve);
    });
  }
}
