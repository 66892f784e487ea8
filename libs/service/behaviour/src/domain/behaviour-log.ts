import type { BehaviourEvent, StoredBehaviour } from './behaviour-event.js';
import { BehaviourStore } from './behaviour-store.js';

/**
 * The outcome of an event: stored; known already; or not kept, because it is older than what the
 * retention keeps or than the erasure of its user.
 */
export type AppendOutcome = 'added' | 'duplicate' | 'outside';

/**
 * Port: behaviours that arrive while others read. The contents are a function of the events that
 * were ever appended (see Retention): repetition does not count, so events may be delivered more
 * than once, and their order only among those of one time. Of one user the history is in the order
 * of time; those of one time are in the order in which they first arrived, and so are limits. Safe
 * to call concurrently; rejects with STORE_UNAVAILABLE, STORE_FULL, STORE_CORRUPT or IO_FAILED.
 */
export abstract class BehaviourLog extends BehaviourStore<StoredBehaviour> {
  /** Stores checked events, of any users; durable when it resolves. One outcome per event. */
  abstract append(events: readonly BehaviourEvent[]): Promise<readonly AppendOutcome[]>;
  /** Replaces the profile. */
  abstract putProfile(userId: string, profile: Readonly<Record<string, string>>): Promise<void>;
  /**
   * Forgets all of a user. Events up to `untilMs`, and up to the newest that was kept, are
   * refused from then on: a late delivery does not bring back what was erased. False: nothing was
   * known.
   * @param mark position of the log's entry that erases the user, kept in the same commit: an
   * entry that the store has applied is not applied again; '' or left out: none
   */
  abstract erase(userId: string, untilMs: number, mark?: string): Promise<boolean>;
  abstract close(): Promise<void>;
}
