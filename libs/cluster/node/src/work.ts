import { TesseraError } from '@tessera/errors';
import type { Log } from '@tessera/telemetry';
import { type Clock, type Lane, Limit, unless } from '@tessera/turns';

/** Milliseconds before what failed is tried again: doubled from the least to the most. */
const BACKOFF_MS = { least: 100, most: 5000, mostAwaited: 1000 } as const;
/** Milliseconds between two lines of the log about the same failure. */
const SAID_EVERY_MS = 60_000;

const backoffMs = (failures: number, most: number = BACKOFF_MS.most) =>
  Math.min(most, BACKOFF_MS.least * 2 ** Math.min(16, failures - 1));

/** Something that a node does again and again, or until it is done. */
export interface Task {
  /** Noun phrase that begins a log sentence: `a snapshot`. */
  readonly name: string;
  /** Milliseconds between two runs; left out: it runs when it is woken, and after a failure. */
  readonly everyMs?: number;
  /** Milliseconds of a run, which counts as failed behind them; left out: any. */
  readonly limitMs?: number;
  /** After a failure it waits for a place here; left out: it runs beside all others. */
  readonly lane?: Lane;
  /** Resolves with true where nothing is left to be done, ever. */
  readonly run: (signal: AbortSignal) => Promise<boolean | undefined>;
  /** Told of each failure; true: it is lasting, and ends the task. */
  readonly onFailed?: (error: TesseraError) => boolean;
}

/** A failure that has not passed yet. */
export interface Failure {
  readonly error: TesseraError;
  readonly sinceMs: number;
}

/** The loop of one task. */
export class Running {
  failure: Failure | undefined;
  private failures = 0;
  private saidMs = Number.NEGATIVE_INFINITY;
  private readonly ended = new AbortController();
  private woken = new AbortController();
  readonly whole: Promise<void>;

  constructor(
    private readonly task: Task,
    private readonly clock: Clock,
    private readonly nodeLog: Pick<Log, 'warn' | 'info'>,
  ) {
    this.whole = this.loop();
  }

  /** Runs at once, or once more behind the run that is under way. */
  wake(): void {
    this.woken.abort();
  }

  /** The run that is under way has got behind what failed before. */
  passed(): void {
    if (this.failure !== undefined) this.nodeLog.info({}, `${this.task.name} goes on`);
    this.failure = undefined;
    this.failures = 0;
  }

  /** Resolves when the run that is under way has ended, or has been given up. */
  async end(): Promise<void> {
    this.ended.abort();
    this.woken.abort();
    await this.whole;
  }

  private async loop(): Promise<void> {
    const { task, clock, ended } = this;
    while (!ended.signal.aborted) {
      this.woken = new AbortController();
      const { lane } = task;
      const isSeated = this.failures > 0 && lane !== undefined;
      if (isSeated) await lane.take();
      const hasEnded = ended.signal.aborted || (await this.once());
      if (isSeated) lane.giveBack();
      if (hasEnded) return;
      const restMs = this.failures > 0 ? backoffMs(this.failures) : task.everyMs;
      if (restMs === undefined) await aborted(this.woken.signal);
      else await clock.pause(restMs, this.woken.signal);
    }
  }

  private async once(): Promise<boolean> {
    const { task, clock, ended } = this;
    const limit = new Limit(clock, task.limitMs ?? Number.POSITIVE_INFINITY, ended.signal);
    try {
      const isDone = await unless(limit.signal, task.run(limit.signal));
      this.passed();
      return isDone === true;
    } catch (thrown) {
      return ended.signal.aborted || this.failed(errorOf(thrown));
    } finally {
      limit.end();
    }
  }

  private failed(error: TesseraError): boolean {
    const { clock, task, nodeLog } = this;
    const nowMs = clock.nowMs();
    this.failures += 1;
    this.failure = { error, sinceMs: this.failure?.sinceMs ?? nowMs };
    if (task.onFailed?.(error) ?? false) return true;
    if (nowMs - this.saidMs >= SAID_EVERY_MS) {
      const forMs = Math.round(nowMs - this.failure.sinceMs);
      nodeLog.warn({ err: error, forMs }, `${task.name} waits: it is tried again`);
      this.saidMs = nowMs;
    }
    return false;
  }
}

/**
 * All that a node does beside its calls: each task in a loop of its own, which waits longer after
 * each failure and gives up a run that does not end.
 */
export class Work {
  private readonly all = new Set<Running>();

  constructor(
    readonly clock: Clock,
    private readonly nodeLog: Pick<Log, 'warn' | 'info'>,
  ) {}

  begin(task: Task): Running {
    const running = new Running(task, this.clock, this.nodeLog);
    this.all.add(running);
    void running.whole.then(() => this.all.delete(running));
    return running;
  }

  async end(running: Running | undefined): Promise<void> {
    await running?.end();
  }

  /** Until it succeeds. Rejects with what `mayPass` does not let pass, and where `signal` is. */
  async until<T>(
    act: () => Promise<T>,
    how: {
      readonly name: string;
      readonly mayPass: (error: TesseraError) => boolean;
      readonly signal?: AbortSignal | undefined;
      /** Told of each failure that passes, and with undefined when none is left. */
      readonly onWait?: (error: TesseraError | undefined) => void;
    },
  ): Promise<T> {
    const { clock, nodeLog } = this;
    const { name, mayPass, signal, onWait } = how;
    const isAborted = () => signal?.aborted === true;
    const sinceMs = clock.nowMs();
    let saidMs = Number.NEGATIVE_INFINITY;
    for (let failures = 1; ; failures += 1) {
      try {
        const done = await act();
        onWait?.(undefined);
        return done;
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (!mayPass(error) || isAborted()) throw error;
        onWait?.(error);
        const nowMs = clock.nowMs();
        if (nowMs - saidMs >= SAID_EVERY_MS) {
          const forMs = Math.round(nowMs - sinceMs);
          nodeLog.warn({ err: error, forMs }, `${name} waits: it is tried again`);
          saidMs = nowMs;
        }
        await clock.pause(backoffMs(failures, BACKOFF_MS.mostAwaited), signal);
        if (isAborted()) throw error;
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.all].map((one) => one.end()));
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A run that was given up has its own words. */
function errorOf(thrown: unknown): TesseraError {
  if (!(thrown instanceof DOMException)) return TesseraError.from(thrown);
  return new TesseraError('DEADLINE_EXCEEDED', thrown.message, { cause: thrown });
}
