/** Node's thread works for so long before sockets are read, and refusals written, again. */
const TURN_MS = 2;
/** Assumed length of an act before the first one was measured. */
const ACT_MS_FIRST = 0.5;
/** Weight of the previous cost of an act, for each turn. */
const FORGET = 0.8;

interface Queue {
  readonly waiting: (() => void)[];
  /** Milliseconds that one act takes with the promises that it settles. */
  actMs: number;
}

/**
 * Divides what comes in bursts into turns of the event loop. One read of a connection may bring a
 * hundred calls, one pass of the engine a hundred answers; were each handled where it is read,
 * whoever is to be refused would wait for all of them. The first of a turn runs at once, so
 * that a call that is alone waits for nothing. Answers go before calls: their work is done.
 *
 * An act's cost is that of its promises as well, which run after it returns; so it is measured from
 * turn to turn, and a turn takes as many acts as fit by that.
 */
export class Turns {
  private readonly answers: Queue = { waiting: [], actMs: ACT_MS_FIRST };
  private readonly calls: Queue = { waiting: [], actMs: ACT_MS_FIRST };
  private isInTurn = false;
  /** Acts of this turn; undefined once they were measured. */
  private ran: { queue: Queue; count: number; startMs: number } | undefined;

  constructor(
    private readonly nowMs: () => number = () => performance.now(),
    private readonly afterReading: (act: () => void) => void = setImmediate,
    private readonly onThrown: (thrown: unknown) => void = throwLater,
  ) {}

  /** Settles what a caller waits for. */
  answer(act: () => void): void {
    this.add(this.answers, act);
  }

  /** Begins a call that was let in. */
  call(act: () => void): void {
    this.add(this.calls, act);
  }

  private add(queue: Queue, act: () => void): void {
    if (this.isInTurn) {
      queue.waiting.push(act);
      return;
    }
    this.begin();
    this.runOne(act);
  }

  private begin(): void {
    this.isInTurn = true;
    this.afterReading(() => this.run());
    // In the same phase of the event loop, behind the promises of what the turn ran.
    this.afterReading(() => this.measure());
  }

  private run(): void {
    this.isInTurn = false;
    const queue = this.answers.waiting.length > 0 ? this.answers : this.calls;
    if (queue.waiting.length === 0) return;
    this.begin();
    const acts = queue.waiting.splice(0, Math.max(1, Math.floor(TURN_MS / queue.actMs)));
    this.ran = { queue, count: acts.length, startMs: this.nowMs() };
    for (const act of acts) this.runOne(act);
  }

  /** Runs one act; if it throws, which none should, the others keep their turns. */
  private runOne(act: () => void): void {
    try {
      act();
    } catch (thrown) {
      this.onThrown(thrown);
    }
  }

  private measure(): void {
    if (this.ran === undefined) return;
    const { queue, count, startMs } = this.ran;
    this.ran = undefined;
    const actMs = (this.nowMs() - startMs) / count;
    queue.actMs = queue.actMs * FORGET + actMs * (1 - FORGET);
  }
}

/** Throws where the process hears of what nothing catches. */
function throwLater(thrown: unknown): void {
  queueMicrotask(() => {
    throw thrown;
  });
}

/** Turns of this process, which has one event loop. */
export const turns = new Turns();
