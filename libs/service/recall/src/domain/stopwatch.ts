/** Microseconds since it was made, and since the last lap. */
export class Stopwatch {
  private readonly start = performance.now();
  private last = this.start;

  lapUs(): number {
    const now = performance.now();
    const lap = (now - this.last) * 1000;
    this.last = now;
    return lap;
  }

  totalUs(): number {
    return (performance.now() - this.start) * 1000;
  }
}
