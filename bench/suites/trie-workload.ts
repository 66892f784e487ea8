/**
 * The workload of native/bench/catalogue_bench.cc, number for number: its head comment is the
 * specification.
 */

export const LEVELS = 4;
export const NORM = 10;
export const BEAMS_MAX = 512;
const POOL_STRIDE = 997;
const POOL_SEED = 0x9e3779b9;

export function mix(value: number): number {
  let x = value;
  x ^= x >>> 16;
  x = Math.imul(x, 0x7feb352d);
  x ^= x >>> 15;
  x = Math.imul(x, 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Every item, or those a predicate of live_bench holds for: mix(item) % modulus === rest. */
export interface Share {
  readonly modulus: number;
  readonly rest: number;
}

/** Codes of all items of the share, laid end to end. */
export function makeSids(
  items: number,
  levelSize: number,
  { modulus, rest }: Share = { modulus: 1, rest: 0 },
): Uint32Array {
  const sids = new Uint32Array(items * LEVELS);
  let end = 0;
  for (let item = 0; item < items; item += 1) {
    if (mix(item) % modulus !== rest) continue;
    for (let level = 0; level < LEVELS; level += 1) {
      sids[end++] = mix(LEVELS * item + level) & (levelSize - 1);
    }
  }
  return sids.subarray(0, end);
}

export function makePool(repetitions: number, levelSize: number): Float32Array {
  const pool = new Float32Array(POOL_STRIDE * repetitions + BEAMS_MAX * levelSize);
  for (let at = 0; at < pool.length; at += 1) {
    pool[at] = ((mix((POOL_SEED + at) >>> 0) >>> 8) / 2 ** 24) * 8 - 4;
  }
  return pool;
}

/** [beams][levelSize] of a repetition, the same at every level. */
export function logitsOf(
  pool: Float32Array,
  repetition: number,
  beams: number,
  levelSize: number,
): Float32Array {
  const start = POOL_STRIDE * repetition;
  return pool.subarray(start, start + beams * levelSize);
}
