import { createHash } from 'node:crypto';
import { NO_OFFSET } from './cluster-log.js';

/** How far a state is: kept with it, in one commit with the effect of the entry. */
export interface Position {
  /** Identity of the log. */
  readonly log: string;
  readonly offset: number;
  /** Digest of the entry there; '' for none. */
  readonly entry: string;
  /** Sum over all users that were ever erased: part of the state's digest. */
  readonly erased: string;
}

const SUM_DIGITS = 32;
const MODULUS = 1n << 128n;

const NOTHING_ERASED = '0'.repeat(SUM_DIGITS);

export const startOf = (log: string): Position => ({
  log,
  offset: NO_OFFSET,
  entry: '',
  erased: NOTHING_ERASED,
});

export const markOf = (position: Position): string => JSON.stringify(position);

/** Undefined for '' and for what is no position. */
export function positionOf(mark: string): Position | undefined {
  try {
    const { log, offset, entry, erased } = JSON.parse(mark) as Partial<Position>;
    const isPosition = typeof log === 'string' && Number.isSafeInteger(offset);
    if (!isPosition || typeof entry !== 'string' || typeof erased !== 'string') return undefined;
    return { log, offset: offset as number, entry, erased };
  } catch {
    return undefined;
  }
}

/** The sum with one more member; the order of the members is the same to it. */
export function withMember(sum: string, member: string): string {
  const hash = createHash('sha256').update(member).digest('hex').slice(0, SUM_DIGITS);
  const next = (BigInt(`0x${sum}`) + BigInt(`0x${hash}`)) % MODULUS;
  return next.toString(16).padStart(SUM_DIGITS, '0');
}

/** Of the parts of a state, named. */
export function stateDigest(parts: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(named)).digest('hex').slice(0, SUM_DIGITS);
}
