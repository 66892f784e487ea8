/** A call that no connection had room for. */
interface Waiting {
  readonly isOver: boolean;
}

/**
 * Calls that wait in their caller for room on a connection, in the order of their arrival: none
 * overtakes another, as with the queue of a client library.
 */
export class WaitingCalls<T extends Waiting> {
  private calls: T[] = [];
  private first = 0;

  /** @param send false: there is no room */
  constructor(private readonly send: (call: T) => boolean) {}

  /** Sends the call, or keeps it behind those that wait already. */
  add(call: T): void {
    this.sendOn();
    if (this.first < this.calls.length || !this.send(call)) this.calls.push(call);
  }

  /** Sends those for which there is room by now; those that expired meanwhile are left out. */
  sendOn(): void {
    while (this.first < this.calls.length) {
      const call = this.calls[this.first] as T;
      if (!call.isOver && !this.send(call)) break;
      this.first += 1;
    }
    // Calls that have left are cut off by halves: each call is moved once on the average.
    if (this.first === 0 || this.first * 2 < this.calls.length) return;
    this.calls = this.calls.slice(this.first);
    this.first = 0;
  }
}
