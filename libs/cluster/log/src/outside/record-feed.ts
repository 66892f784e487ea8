/** Hands over what one side puts, one at a time, to another side that takes it when it can. */
export class RecordFeed<T> {
  private put: { readonly item: T; readonly taken: () => void } | undefined;
  private failure: { readonly error: unknown } | undefined;
  private isClosed = false;
  private wake: () => void = () => undefined;

  /** Resolves when the item was taken, or never will be. */
  give(item: T): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    return new Promise((taken) => {
      this.put = { item, taken };
      this.wake();
    });
  }

  /** Makes the next read reject with the error. */
  fail(error: unknown): void {
    this.failure ??= { error };
    this.wake();
  }

  /** Undefined where nothing comes within the time, in milliseconds, or ever. */
  async take(patienceMs: number): Promise<T | undefined> {
    if (this.isIdle()) await this.change(patienceMs);
    if (this.failure !== undefined) throw this.failure.error;
    const { put } = this;
    this.put = undefined;
    put?.taken();
    return put?.item;
  }

  /** Ends all reads. */
  close(): void {
    this.isClosed = true;
    this.put?.taken();
    this.put = undefined;
    this.wake();
  }

  private isIdle(): boolean {
    return this.put === undefined && this.failure === undefined && !this.isClosed;
  }

  private change(patienceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, patienceMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
