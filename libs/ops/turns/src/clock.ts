/** Time as work that waits sees it: that of this process, or of a model of it in tests. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  nowMs(): number;
  /** Resolves after so many milliseconds, or when the signal is aborted; never rejects. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
}

export const PROCESS_CLOCK: Clock = {
  nowMs: () => performance.now(),
  pause: (ms, signal) =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end, { once: true });
    }),
};

/** A time after which work is given up. Its owner ends it, which frees its timer. */
export class Limit {
  private readonly over = new AbortController();
  private readonly ended = new AbortController();
  /** Aborted when the time is over, or one of the given ones is. */
  readonly signal: AbortSignal;

  constructor(clock: Clock, ms: number, ...given: readonly (AbortSignal | undefined)[]) {
    const others = given.filter((one) => one !== undefined);
    this.signal = AbortSignal.any([this.over.signal, ...others]);
    if (ms === Number.POSITIVE_INFINITY) return;
    void clock.pause(ms, AbortSignal.any([this.ended.signal, this.signal])).then(() => {
      if (this.ended.signal.aborted) return;
      this.over.abort(new DOMException(`not done within ${Math.round(ms)} ms`, 'TimeoutError'));
    });
  }

  end(): void {
    this.ended.abort();
  }
}

/** Settles as the work does, or rejects with the signal's reason if that is aborted before. */
export function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
