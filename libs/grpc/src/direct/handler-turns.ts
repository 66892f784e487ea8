/** Handlers run for so long before sockets are read, and refusals written, again. */
const TURN_MS = 2;

/**
 * Runs handlers apart from the reading of sockets. One read of a connection may bring a hundred
 * calls; were each handled where it is read, whoever is to be refused would wait for all of them.
 * The first of a turn of the event loop runs at once, so that a call that is alone waits for
 * nothing.
 */
export class HandlerTurns {
  private waiting: (() => void)[] = [];
  private isInTurn = false;

  constructor(
    private readonly nowMs: () => number = () => performance.now(),
    private readonly afterReading: (act: () => void) => void = setImmediate,
  ) {}

  add(handle: () => void): void {
    if (this.isInTurn) {
      this.waiting.push(handle);
      return;
    }
    this.begin();
    handle();
  }

  private begin(): void {
    this.isInTurn = true;
    this.afterReading(() => this.run());
  }

  private run(): void {
    this.isInTurn = false;
    if (this.waiting.length === 0) return;
    this.begin();
    const end = this.nowMs() + TURN_MS;
    let done = 0;
    do (this.waiting[done++] as () => void)();
    while (done < this.waiting.length && this.nowMs() < end);
    this.waiting = this.waiting.slice(done);
  }
}
