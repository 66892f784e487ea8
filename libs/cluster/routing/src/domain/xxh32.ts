const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77;
const PRIME_3 = 0xc2b2ae3d;
const PRIME_4 = 0x27d4eb2f;
const PRIME_5 = 0x165667b1;

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

function round(lane: number, word: number): number {
  return Math.imul(rotateLeft((lane + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1);
}

/**
 * XXH32 of bytes, 0..2^32-1, as in the xxHash specification 0.1.1: libxxhash's `XXH32` gives the
 * same number.
 */
export function xxh32(bytes: Uint8Array, seed = 0): number {
  const { length } = bytes;
  let at = 0;
  let hash: number;
  if (length >= 16) {
    let a = (seed + PRIME_1 + PRIME_2) | 0;
    let b = (seed + PRIME_2) | 0;
    let c = seed | 0;
    let d = (seed - PRIME_1) | 0;
    for (; at <= length - 16; at += 16) {
      a = round(a, wordAt(bytes, at));
      b = round(b, wordAt(bytes, at + 4));
      c = round(c, wordAt(bytes, at + 8));
      d = round(d, wordAt(bytes, at + 12));
    }
    hash = rotateLeft(a, 1) + rotateLeft(b, 7) + rotateLeft(c, 12) + rotateLeft(d, 18);
  } else {
    hash = seed + PRIME_5;
  }
  hash = (hash + length) | 0;
  for (; at <= length - 4; at += 4) {
    const word = Math.imul(wordAt(bytes, at), PRIME_3);
    hash = Math.imul(rotateLeft((hash + word) | 0, 17), PRIME_4);
  }
  for (; at < length; at += 1) {
    hash = Math.imul(rotateLeft((hash + Math.imul(bytes[at] as number, PRIME_5)) | 0, 11), PRIME_1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
