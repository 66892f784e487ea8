import type { ChildProcess } from 'node:child_process';
import { TesseraError } from '@tessera/errors';
import { AnswerWatch, type ChildLimits, startLimited } from '@tessera/processes';
import type { LaunchOrder, LaunchReply } from './messages.js';

export interface LaunchListener {
  readonly onMessage: (message: unknown) => void;
  /** It ended by itself, was killed, or could not be started (then with a reason). */
  readonly onEnd: (reason: string) => void;
  /** The launcher ended, and it with the launcher. */
  readonly onLost: (error: TesseraError) => void;
}

/** A process that the launcher started. */
export interface LaunchedProcess {
  /** Resolves when it has gone. */
  readonly exited: Promise<void>;
  send(message: unknown): void;
  kill(): void;
}

interface Entry {
  readonly listener: LaunchListener;
  readonly gone: () => void;
}

/**
 * Starts processes from a small one of their own. A process that starts another copies its page
 * tables first (fork(2)): from the service that holds Node's thread for 2 ms with the demo's
 * 160 MB, and for some 15 ms for each gigabyte in small pages.
 */
export class Launcher {
  private child: ChildProcess | undefined;
  private watch: AnswerWatch | undefined;
  private readonly launched = new Map<number, Entry>();
  private lastNumber = 0;
  private isClosed = false;

  /**
   * @param program of the launcher, as arguments of Node
   * @param pingMs milliseconds between two questions whether it answers; left out: five seconds
   */
  constructor(
    private readonly program: readonly string[],
    private readonly pingMs?: number,
  ) {}

  /** ID of the process that starts others; undefined while there is none. */
  get processId(): number | undefined {
    return this.child?.pid;
  }

  /** Throws STORE_UNAVAILABLE once it is closed. */
  start(
    program: readonly string[],
    limits: ChildLimits,
    listener: LaunchListener,
  ): LaunchedProcess {
    const child = this.running();
    const number = ++this.lastNumber;
    const exited = new Promise<void>((gone) => {
      this.launched.set(number, { listener, gone });
    });
    const order = (sent: LaunchOrder) => {
      // One that cannot be handed over has no launcher any more, which `exit` says.
      if (this.launched.has(number)) child.send(sent, () => undefined);
    };
    order({ kind: 'start', number, program, limits });
    return {
      exited,
      send: (message) => order({ kind: 'send', number, message }),
      kill: () => order({ kind: 'kill', number }),
    };
  }

  /** With all that it started. */
  close(): void {
    this.isClosed = true;
    this.child?.kill('SIGKILL');
  }

  private running(): ChildProcess {
    if (this.isClosed) throw lost('it was closed');
    if (this.child !== undefined) return this.child;
    const child = startLimited(this.program, {});
    child.on('message', (reply) => this.take(reply as LaunchReply));
    child.on('error', (cause) => this.ended(child, cause.message));
    child.once('exit', (code, signal) => this.ended(child, `it ended with ${signal ?? code}`));
    this.child = child;
    this.watch = new AnswerWatch(child, {
      pingMs: this.pingMs,
      ask: () => child.send({ kind: 'ping' } satisfies LaunchOrder, () => undefined),
      onSilent: (how) => this.ended(child, how),
    });
    return child;
  }

  private take(reply: LaunchReply): void {
    this.watch?.answered();
    if (reply.kind === 'ping') return;
    const entry = this.launched.get(reply.number);
    if (entry === undefined) return;
    if (reply.kind === 'message') {
      entry.listener.onMessage(reply.message);
      return;
    }
    this.launched.delete(reply.number);
    entry.gone();
    entry.listener.onEnd(reply.reason);
  }

  private ended(child: ChildProcess, how: string): void {
    if (this.child !== child) return;
    this.child = undefined;
    this.watch?.end();
    const entries = [...this.launched.values()];
    this.launched.clear();
    for (const { listener, gone } of entries) {
      gone();
      listener.onLost(lost(how));
    }
  }
}

function lost(how: string): TesseraError {
  const message = `sql: expected a process that starts queries, got none: ${how}; ask again`;
  return new TesseraError('STORE_UNAVAILABLE', message, { field: 'sql' });
}
