import { createHash } from 'node:crypto';
import type { Position } from '@tessera/contracts';
import { NO_OFFSET } from '@tessera/log';

const SUM_DIGITS = 32;
const MODULUS = 1n << 128n;

const NOTHING_ERASED = '0'.repeat(SUM_DIGITS);

export const startOf = (log: string): Position => ({
  log,
  offset: NO_OFFSET,
  entry: '',
  chain: log,
  erased: NOTHING_ERASED,
});

/** The sum with one more member; the order of the members is the same to it. */
export function withMember(sum: string, member: string): string {
  const hash = createHash('sha256').update(member).digest('hex').slice(0, SUM_DIGITS);
  const next = (BigInt(`0x${sum}`) + BigInt(`0x${hash}`)) % MODULUS;
  return next.toString(16).padStart(SUM_DIGITS, '0');
}

/** Digest of a state, from the digests of its named parts. */
export function stateDigest(parts: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(named)).digest('hex').slice(0, SUM_DIGITS);
}
