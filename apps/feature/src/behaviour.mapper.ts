/** Wire <-> domain of behaviours. It checks limits that protobuf cannot state. */

import {
  type AppendOutcome,
  type BehaviourEvent,
  checkProfile,
  type StoredBehaviour,
  USER_ID_LENGTH_MAX,
} from '@tessera/behaviour';
import { enumWords, type WireAppendOutcome, type WireBehaviour } from '@tessera/contracts';
import { isBlank, shown, TesseraError } from '@tessera/errors';
import { invalid, text, texts } from '@tessera/grpc';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';

const HISTORY_LIMIT_MAX = 100_000;
const HISTORY_LIMIT_DEFAULT = 100;
/** @throws TesseraError REQUEST_INVALID */
export function parseBehaviour(wire: WireBehaviour | undefined): BehaviourEvent {
  if (wire === undefined) throw invalid('behaviour', 'a behaviour', 'none');
  const { userId, eventId, itemId, action, timeMs, scene, requestId, position } = wire;
  for (const [field, value] of Object.entries({ userId, eventId, itemId, action })) {
    text(field, value);
  }
  texts('scene', scene);
  if (requestId !== undefined) text('requestId', requestId);
  return { userId, eventId, itemId, action, timeMs, scene, requestId, position };
}

export function parseUserId(userId: string): string {
  if (isBlank(userId)) throw invalid('userId', 'an ID that is not blank', shown(userId));
  if (userId.length <= USER_ID_LENGTH_MAX) return userId;
  throw invalid('userId', `1..${USER_ID_LENGTH_MAX} characters`, userId.length);
}

export function parseLimit(limit: number | undefined): number {
  const wanted = limit ?? HISTORY_LIMIT_DEFAULT;
  if (wanted >= 1 && wanted <= HISTORY_LIMIT_MAX) return wanted;
  throw invalid('limit', `1..${HISTORY_LIMIT_MAX}`, wanted);
}

/** A fault of the caller, as of behaviours. */
export function parseProfile(profile: Readonly<Record<string, string>>) {
  try {
    checkProfile(profile);
  } catch (thrown) {
    const { message, field } = TesseraError.from(thrown);
    throw new TesseraError('REQUEST_INVALID', message, { field, cause: thrown });
  }
  return profile;
}

export const toWireOutcome = (outcome: AppendOutcome): WireAppendOutcome =>
  enumWords['tessera.behaviour.v1.AppendOutcome'][outcome];

export function toWireBehaviour(userId: string, behaviour: StoredBehaviour): WireBehaviour {
  const { eventId, itemId, action, time, scene } = behaviour;
  const timeMs = Math.round(time * MILLISECONDS_PER_SECOND);
  return { userId, eventId, itemId, action, timeMs, scene: { ...scene } };
}
