/** Cost of the passes of a model: predicted from its work, corrected by measured passes. */

/** Multiplications per microsecond before the first pass was timed. */
const FIRST_RATE = 10_000;
/** Weight of a new measurement in the rate. */
const NEWEST_SHARE = 0.25;

export interface TokenWork {
  /** Multiplications of a token, and of a token and one that it sees. */
  readonly row: number;
  readonly pair: number;
}

export class PassCost {
  private rate = FIRST_RATE;

  constructor(private readonly work: TokenWork) {}

  /** Multiplications of a text. */
  workOf(tokens: number): number {
    return tokens * (this.work.row + tokens * this.work.pair);
  }

  predictUs(work: number): number {
    return work / this.rate;
  }

  /** A pass of this work took so long. */
  note(work: number, computeUs: number): void {
    if (computeUs <= 0) return;
    this.rate += NEWEST_SHARE * (work / computeUs - this.rate);
  }
}
