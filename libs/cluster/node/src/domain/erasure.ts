/** Kind of the entries that erase a user: tombstones. */
export const ERASE = 'erase';
/** Kind of the entries by which a person gives a store up: `{"offset": N, "part": NAME}`. */
export const GIVE_UP = 'give-up';

export interface Erasure {
  readonly userId: string;
  /** Behaviours and the profile; else what is made of them alone. */
  readonly withBehaviours: boolean;
  /** Recorded recalls. */
  readonly withRecords: boolean;
}

/** Of the body of an entry. */
export function erasedUser(body: unknown): string {
  return String((body as Partial<Erasure> | null)?.userId ?? '');
}
