import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { BehaviourEvent, StoredBehaviour } from '../domain/behaviour-event.js';

/** The part of an event that a store keeps beside its ID and time: [item, action, scene]. */
export function payloadOf({ itemId, action, scene }: BehaviourEvent): string {
  return JSON.stringify([itemId, action, scene]);
}

export function storedBehaviour(entry: {
  readonly eventId: string;
  readonly timeMs: number;
  readonly payload: string;
}): StoredBehaviour {
  const [itemId, action, scene] = JSON.parse(entry.payload);
  const time = entry.timeMs / MILLISECONDS_PER_SECOND;
  return { eventId: entry.eventId, itemId, action, time, scene };
}
