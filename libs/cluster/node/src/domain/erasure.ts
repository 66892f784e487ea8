import { TesseraError } from '@tessera/errors';

/** Kind of the entries that erase a user: tombstones. */
export const ERASE = 'erase';
/** Kind of the entries by which a person gives a store up: `{"offset": N, "part": NAME}`. */
export const GIVE_UP = 'give-up';

/** Milliseconds of an erasure that nobody gives a deadline. */
export const ERASURE_MS = 30_000;

export interface Erasure {
  readonly userId: string;
  /** Behaviours and the profile; else what is made of them alone. */
  readonly withBehaviours: boolean;
  /** Recorded recalls. */
  readonly withRecords: boolean;
}

/** User whom the body of an entry erases. */
export function erasedUser(body: unknown): string {
  return String((body as Partial<Erasure> | null)?.userId ?? '');
}

/** @throws TesseraError REQUEST_INVALID for a body that erases nobody */
export function erasureOf(body: unknown): Erasure {
  const { userId, withBehaviours, withRecords } = (body ?? {}) as Partial<Erasure>;
  const isErasure = typeof userId === 'string' && userId !== '';
  if (isErasure && typeof withBehaviours === 'boolean' && typeof withRecords === 'boolean') {
    return { userId, withBehaviours, withRecords };
  }
  throw new TesseraError('REQUEST_INVALID', 'erase: expected a user, got another body');
}
