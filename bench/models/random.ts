export interface LengthSpread {
  readonly median: number;
  /** Standard deviation of the logarithm. */
  readonly spread: number;
  readonly least: number;
  readonly most: number;
}

/** xorshift32 (Marsaglia 2003): fast, and the same numbers everywhere. Seeds differ from zero. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = Math.imul(seed + 1, 0x9e37_79b9) >>> 0 || 1;
    for (let at = 0; at < WARM_UP; at += 1) this.bits();
  }

  /** 32 random bits. */
  bits(): number {
    let state = this.state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.state = state >>> 0;
    return this.state;
  }

  /** Uniform in [0, 1). */
  uniform(): number {
    return this.bits() / 2 ** 32;
  }

  /** Uniform in 0 .. count - 1. */
  below(count: number): number {
    return Math.floor(this.uniform() * count);
  }

  /** Member of a list that is not empty. */
  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }

  /** Of the standard normal distribution (Box and Muller 1958). */
  normal(): number {
    const angle = 2 * Math.PI * this.uniform();
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(angle);
  }

  /** A whole number of a lognormal distribution, no less and no more than the bounds. */
  length({ median, spread, least, most }: LengthSpread): number {
    const drawn = median * Math.exp(spread * this.normal());
    return Math.round(Math.min(most, Math.max(least, drawn)));
  }
}

const WARM_UP = 16;

/** Upper half of the number's bits in F32, rounded to nearest even. */
export function bf16(value: number): number {
  FLOAT[0] = value;
  const bits = WORD[0] as number;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

const FLOAT = new Float32Array(1);
const WORD = new Uint32Array(FLOAT.buffer);

/**
 * 65,536 equally likely values of a normal distribution in BF16, so that drawing a weight is a
 * look-up.
 */
export function normalTable(deviation: number): Uint16Array {
  const table = new Uint16Array(1 << 16);
  let value = -NORMAL_RANGE;
  for (let at = 0; at < table.length; at += 1) {
    const share = (at + 0.5) / table.length;
    while (normalShare(value) < share) value += NORMAL_STEP;
    table[at] = bf16(value * deviation);
  }
  return table;
}

const NORMAL_RANGE = 4.5;
const NORMAL_STEP = 1 / 4096;

/** Share of the standard normal distribution below a value (Abramowitz and Stegun 26.2.17). */
function normalShare(value: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(value));
  const density = Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI);
  const tail =
    density *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return value < 0 ? tail : 1 - tail;
}
