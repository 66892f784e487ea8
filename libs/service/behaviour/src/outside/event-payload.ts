import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { BehaviourEvent, StoredBehaviour } from '../domain/behaviour-event.js';

const MICROSECONDS_PER_MS = 1000;

/** An event as a store gives it back. */
export interface StoredEntry {
  readonly eventId: string;
  readonly timeMs: number;
  readonly payload: string;
}

/** Numbers events in the order in which they arrive; a later process's numbers are higher. */
export class Arrivals {
  private last = 0;

  constructor(private readonly nowMs: () => number) {}

  next(): number {
    this.last = Math.max(this.last + 1, this.nowMs() * MICROSECONDS_PER_MS);
    return this.last;
  }
}

/** Payload of an event beside its ID and time: [item, action, scene, arrival]. */
export function payloadOf({ itemId, action, scene }: BehaviourEvent, arrival: number): string {
  return JSON.stringify([itemId, action, scene, arrival]);
}

/**
 * Behaviours in the order of time, those of one time in the order in which they arrived, which is
 * the rule of the trainer's sequences as well (theirs is the order of the file). Entries that
 * earlier releases stored have no arrival: they come first, by event ID.
 * @param entries in the order of time, then of event ID
 */
export function storedBehaviours(entries: readonly StoredEntry[]): readonly StoredBehaviour[] {
  const parsed = entries.map(({ eventId, timeMs, payload }) => {
    const [itemId, action, scene, arrival = 0] = JSON.parse(payload);
    const time = timeMs / MILLISECONDS_PER_SECOND;
    return { timeMs, arrival, behaviour: { eventId, itemId, action, time, scene } };
  });
  // Stable: equal arrivals keep the order that they have.
  parsed.sort((a, b) => a.timeMs - b.timeMs || a.arrival - b.arrival);
  return parsed.map(({ behaviour }) => behaviour);
}
