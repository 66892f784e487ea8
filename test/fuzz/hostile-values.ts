/** Values that callers do not send on purpose; the same seed draws the same. */

import { Random } from '../../bench/models/random.js';

const TEXTS: readonly string[] = [
  '',
  '1',
  '2',
  '9',
  'main',
  'brand',
  'brand 3',
  '0',
  '-1',
  '007',
  '1e400',
  'NaN',
  'null',
  'true',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  '🙂',
  'ﬁ',
  '<|eos|>',
  '<a_1><b_2><c_3>',
  '|><|',
  '../../etc/passwd',
  '%2e%2e%2f',
  "'; drop table recalls; --",
  'select 1',
  '{"a":1}',
  '{"a":',
  '{"bid":1e400}',
  '[]',
  '__proto__',
  'constructor',
  'toString',
  '\u001b[2J',
  '\r\nx: y',
  'x'.repeat(300),
  'ß'.repeat(20_000),
  'f'.repeat(64),
];

const NUMBERS: readonly number[] = [
  0,
  -0,
  1,
  2,
  3,
  7,
  8,
  100,
  511,
  512,
  4096,
  65_536,
  1e6,
  -1,
  0.5,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  1e300,
  -1e300,
  5e-324,
];
const NOT_FINITE: readonly number[] = [Number.NaN, Number.POSITIVE_INFINITY, -Infinity];
const REPEATED_MANY = 1500;

export class HostileValues extends Random {
  text(): string {
    return this.one(TEXTS);
  }

  number(): number {
    return this.one(NUMBERS);
  }

  double(): number {
    return this.chance(6) ? this.one(NOT_FINITE) : this.number();
  }

  /** How often a repeated field is there. */
  count(): number {
    return this.chance(60) ? REPEATED_MANY : this.below(4);
  }

  bytes(): Buffer {
    return Buffer.from(Array.from({ length: this.below(64) }, () => this.below(256)));
  }

  /** A few bytes changed, doubled or cut off. */
  damaged(bytes: Buffer): Buffer {
    if (bytes.length === 0) return this.bytes();
    const at = this.below(bytes.length);
    const form = this.below(3);
    if (form === 0) return bytes.subarray(0, at);
    if (form === 1) return Buffer.concat([bytes.subarray(0, at), bytes]);
    const copy = Buffer.from(bytes);
    copy[at] = this.below(256);
    return copy;
  }
}
