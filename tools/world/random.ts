import { seeded } from '../simulate/seeded.js';

/**
 * Draws that depend on their keys alone, so that what the service answers changes none of them: two
 * runs with one seed share every visit, drift and arrival, whatever serves.
 */

/** Purposes of draws: the key behind the seed. */
export const DRAW = {
  taste: 1,
  favourite: 2,
  topics: 3,
  category: 4,
  topic: 5,
  appeal: 6,
  visit: 7,
  examined: 8,
  click: 9,
  purchase: 10,
  delay: 11,
  budget: 12,
  bid: 13,
  ending: 14,
  arrival: 15,
  explore: 16,
  rank: 17,
  interval: 18,
  discount: 19,
} as const;

/** A bijection of 32 bits (Chris Wellons, lowbias32). */
function mixed(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return bits ^ (bits >>> 16);
}

function keyOf(keys: readonly number[]): number {
  let hash = 0;
  for (const key of keys) hash = mixed(hash ^ mixed(key + 0x9e3779b9)) + 0x6d2b79f5;
  return mixed(hash);
}

/** A number of [0, 1). */
export const draw = (...keys: number[]): number => (keyOf(keys) >>> 0) / 2 ** 32;

/** Of the standard normal distribution (Box and Muller). */
export function drawNormal(...keys: number[]): number {
  const radius = Math.sqrt(-2 * Math.log(1 - draw(...keys, 1)));
  return radius * Math.cos(2 * Math.PI * draw(...keys, 2));
}

/** Many numbers of [0, 1) under one key. */
export const stream = (...keys: number[]): (() => number) => seeded(keyOf(keys));

/** The key of a text (FNV-1a). */
export function textKey(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash;
}
