import { expect, it } from 'vitest';
import { xxh32 } from './xxh32.js';

/** Of libxxhash 0.8.1, `XXH32(text, strlen(text), seed)`. */
it.each([
  ['', 0, 0x02cc5d05],
  ['a', 0, 0x550d7456],
  ['abc', 0, 0x32d153ff],
  ['The quick brown fox jumps over the lazy dog', 0, 0xe85ea4de],
  ['Nobody inspects the spammish repetition', 0, 0xe2293b2f],
])('gives of %j with seed %i what libxxhash gives', (text, seed, hash) => {
  expect(xxh32(new TextEncoder().encode(text), seed)).toBe(hash);
});

it('gives of any length and seed what libxxhash gives', () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, n) => (n * 131 + 7) & 255);
  const ofLibrary = [
    46_947_589, 2_736_577_223, 2_988_837_860, 63_203_646, 2_981_790_839, 1_152_932_602, 802_587_726,
    2_179_943_613, 2_959_674_716, 2_821_839_963, 2_504_693_272, 2_882_833_848, 2_395_293_473,
    807_797_747,
  ];
  for (const [n, hash] of ofLibrary.entries()) {
    const length = 23 * n;
    expect(xxh32(bytes.subarray(0, length), length), `${length} bytes`).toBe(hash);
  }
});
