/** Places that tasks take one after another: more of them wait. */
export class Lane {
  private free: number;
  private waiting: (() => void)[] = [];

  constructor(places: number) {
    this.free = places;
  }

  async take(): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  giveBack(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next();
  }
}
