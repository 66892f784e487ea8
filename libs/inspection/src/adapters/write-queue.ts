/**
 * A bounded queue whose elements are written some at a time on a turn of their own. Who offers
 * never waits: what does not fit is not taken, and what cannot be written is given up.
 */
export class WriteQueue<Element> {
  private waiting: Element[] = [];
  private writing: Promise<void> | undefined;
  private closed = false;

  constructor(
    private readonly options: {
      readonly waitingMax: number;
      readonly batchMax: number;
      readonly write: (batch: readonly Element[]) => Promise<void>;
      readonly onWritten: (count: number) => void;
      readonly onFailed: (count: number, thrown: unknown) => void;
    },
  ) {}

  get length(): number {
    return this.waiting.length;
  }

  offer(element: Element): boolean {
    if (this.closed || this.waiting.length >= this.options.waitingMax) return false;
    this.waiting.push(element);
    this.writing ??= this.writeAll().finally(() => {
      this.writing = undefined;
    });
    return true;
  }

  async settled(): Promise<void> {
    while (this.writing !== undefined) await this.writing;
  }

  /** Takes nothing any more, and writes what it has. */
  async close(): Promise<void> {
    this.closed = true;
    await this.settled();
  }

  private async writeAll(): Promise<void> {
    const { batchMax, write, onWritten, onFailed } = this.options;
    // Not on the turn of who offered: an answer is on its way there.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, batchMax);
      this.waiting = this.waiting.slice(batchMax);
      await write(batch).then(
        () => onWritten(batch.length),
        (thrown: unknown) => onFailed(batch.length, thrown),
      );
    }
  }
}
