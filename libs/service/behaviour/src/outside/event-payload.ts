import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { BehaviourEvent, StoredBehaviour } from '../domain/behaviour-event.js';

const MICROSECONDS_PER_MS = 1000;

/** An event as a store gives it back. */
export interface StoredEntry {
  readonly eventId: string;
  readonly timeMs: number;
  /** 0: a release before stored it. */
  readonly arrival: number;
  readonly payload: string;
}

/** Order by time, then arrival; events that an earlier release stored come first, by event ID. */
export function byTimeAndArrival(a: StoredEntry, b: StoredEntry): number {
  return (
    a.timeMs - b.timeMs ||
    a.arrival - b.arrival ||
    Buffer.compare(Buffer.from(a.eventId), Buffer.from(b.eventId))
  );
}

/** The least number of an event that arrives now: those of releases before were so. */
export const firstArrival = (nowMs: number): number => Math.ceil(nowMs) * MICROSECONDS_PER_MS;

/** Payload of an event beside its ID, time and arrival. */
export function payloadOf({ itemId, action, scene }: BehaviourEvent): string {
  return JSON.stringify([itemId, action, scene]);
}

/**
 * Behaviours in the order of time, those of one time in the order in which they arrived, which is
 * the rule of the trainer's sequences as well (theirs is the order of the file). Entries of a
 * release before have their arrival in the payload, or none.
 * @param entries as byTimeAndArrival() has them
 */
export function storedBehaviours(entries: readonly StoredEntry[]): readonly StoredBehaviour[] {
  const parsed = entries.map(({ eventId, timeMs, arrival: keyed, payload }) => {
    const [itemId, action, scene, arrival = keyed] = JSON.parse(payload);
    const time = timeMs / MILLISECONDS_PER_SECOND;
    return { timeMs, arrival, behaviour: { eventId, itemId, action, time, scene } };
  });
  // Stable: equal arrivals keep the order that they have.
  parsed.sort((a, b) => a.timeMs - b.timeMs || a.arrival - b.arrival);
  return parsed.map(({ behaviour }) => behaviour);
}
