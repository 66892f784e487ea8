import type { LaunchedProcess, Launcher, LaunchListener } from './launcher.js';

export interface SparesParts {
  readonly launcher: Pick<Launcher, 'start'>;
  readonly program: readonly string[];
  readonly rules: { readonly memoryBytes: number; readonly diskBytes: number };
}

/**
 * Memory of a process beside that of its query: the database and the writer of Arrow once they are
 * loaded (115 MiB with Node 24), and what the queries before left behind (up to 1 MiB each).
 */
const PROCESS_BYTES = 160 * 2 ** 20;

/** A process that is started and has nothing to do yet. */
export class SpareProcess {
  private listener: LaunchListener | undefined;
  private readonly child: LaunchedProcess;
  isGone = false;
  /** It has had a query. */
  isUsed = false;

  constructor({ launcher, program, rules }: SparesParts) {
    const { memoryBytes, diskBytes } = rules;
    const limits = { dataBytes: memoryBytes + PROCESS_BYTES, fileBytes: diskBytes };
    this.child = launcher.start(program, limits, {
      onMessage: (message) => this.listener?.onMessage(message),
      onEnd: (reason) => {
        this.isGone = true;
        this.listener?.onEnd(reason);
      },
      onLost: (error) => {
        this.isGone = true;
        this.listener?.onLost(error);
      },
    });
  }

  warm(): void {
    this.child.send({ kind: 'warm' });
  }

  serve(listener: LaunchListener): LaunchedProcess {
    this.listener = listener;
    this.isUsed = true;
    return this.child;
  }
}

/**
 * One process is kept ready: a process takes longer to start than most queries
 * take to answer. One that has answered in good order is kept for the next: each query has a
 * database of its own in it, which is closed before the answer is sent.
 */
export class Spares {
  private spare: SpareProcess | undefined;
  private isClosed = false;

  constructor(private readonly parts: SparesParts) {}

  take(): SpareProcess {
    const { spare } = this;
    this.spare = undefined;
    return spare === undefined || spare.isGone ? new SpareProcess(this.parts) : spare;
  }

  /** Takes back a process that is done, in good order. False: it is not wanted any more. */
  giveBack(done: SpareProcess): boolean {
    const isWanted = this.spare === undefined || this.spare.isGone;
    if (!isWanted || done.isGone || this.isClosed) return false;
    this.spare = done;
    return true;
  }

  /** For the next query, if there is one soon. */
  prepare(): void {
    if (this.isClosed || (this.spare !== undefined && !this.spare.isGone)) return;
    try {
      const fresh = new SpareProcess(this.parts);
      fresh.warm();
      this.spare = fresh;
    } catch {
      // The launcher is closed: there is no next query.
    }
  }

  /** No query comes any more. */
  close(): void {
    this.isClosed = true;
    this.end();
  }

  /** Another one takes its place where it may hold anything of a query. */
  renew(): void {
    if (this.spare === undefined || !this.spare.isUsed) return;
    this.end();
    this.prepare();
  }

  private end(): void {
    this.spare?.serve({ onMessage: noop, onEnd: noop, onLost: noop }).kill();
    this.spare = undefined;
  }
}

function noop(): void {}
