import { expecting, isBlank, shown } from '@tessera/errors';
import type { Behaviour } from './behaviour-store.js';
import {
  ITEM_ID_LENGTH_MAX,
  PROFILE_KEYS_MAX,
  PROFILE_VALUE_LENGTH_MAX,
  USER_ID_LENGTH_MAX,
} from './parse-users.js';
import { faultOfTime } from './plausible-time.js';

const invalid = expecting('BEHAVIOUR_INVALID');

const EVENT_ID_LENGTH_MAX = 256;
const ACTION_LENGTH_MAX = 64;
const SCENE_KEYS_MAX = 64;
const REQUEST_ID_LENGTH_MAX = 128;
const POSITION_MAX = 65_536;
const SCENE_TEXT_LENGTH_MAX = 1024;

/** One thing that a user did, as its producer reported it. */
export interface BehaviourEvent {
  readonly userId: string;
  /** The producer's name of the event: an event that is sent again bears it again. */
  readonly eventId: string;
  readonly itemId: string;
  readonly action: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  /** Circumstances of the behaviour. */
  readonly scene: Readonly<Record<string, string>>;
  /** ID of the recall that showed the item; left out: not said. Outcomes alone ask for it. */
  readonly requestId?: string | undefined;
  /** Place of the item in the answer, from 1; left out: not said. */
  readonly position?: number | undefined;
}

/** A behaviour that bears the name of the event which reported it. */
export interface StoredBehaviour extends Behaviour {
  readonly eventId: string;
  readonly scene: Readonly<Record<string, string>>;
}

/**
 * @throws TesseraError BEHAVIOUR_INVALID naming the field; a time that lies ahead of `nowMs` by
 * more than a clock may be wrong is one of the faults, an old one is not (retention decides on it)
 */
export function checkBehaviourEvent(event: BehaviourEvent, nowMs: number): void {
  checkId('userId', event.userId, USER_ID_LENGTH_MAX);
  checkId('eventId', event.eventId, EVENT_ID_LENGTH_MAX);
  checkId('itemId', event.itemId, ITEM_ID_LENGTH_MAX);
  if (event.action !== '') checkId('action', event.action, ACTION_LENGTH_MAX);
  const { timeMs } = event;
  if (timeMs === 0) {
    throw invalid('timeMs', 'milliseconds since 1970', '0, as where no time was set');
  }
  if (!Number.isSafeInteger(timeMs)) {
    throw invalid('timeMs', 'whole milliseconds since 1970', String(timeMs));
  }
  const fault = faultOfTime(timeMs, 'milliseconds', nowMs);
  if (fault !== undefined) throw invalid('timeMs', fault.expected, fault.got);
  const { requestId, position } = event;
  if (requestId !== undefined) checkId('requestId', requestId, REQUEST_ID_LENGTH_MAX);
  if (position !== undefined && !(position >= 1 && position <= POSITION_MAX)) {
    throw invalid('position', `1..${POSITION_MAX}`, String(position));
  }
  const scene = Object.entries(event.scene);
  if (scene.length > SCENE_KEYS_MAX) {
    throw invalid('scene', `at most ${SCENE_KEYS_MAX} keys`, String(scene.length));
  }
  for (const [key, value] of scene) {
    lengthWithin(`scene key '${key.slice(0, 40)}'`, key, 1, SCENE_TEXT_LENGTH_MAX);
    lengthWithin(`scene.${key}`, value, 0, SCENE_TEXT_LENGTH_MAX);
  }
}

/** @throws TesseraError BEHAVIOUR_INVALID naming the key */
export function checkProfile(profile: Readonly<Record<string, string>>): void {
  const entries = Object.entries(profile);
  if (entries.length > PROFILE_KEYS_MAX) {
    throw invalid('profile', `at most ${PROFILE_KEYS_MAX} keys`, String(entries.length));
  }
  for (const [key, value] of entries) {
    lengthWithin(`profile key '${key.slice(0, 40)}'`, key, 1, PROFILE_VALUE_LENGTH_MAX);
    lengthWithin(`profile.${key}`, value, 0, PROFILE_VALUE_LENGTH_MAX);
  }
}

function checkId(field: string, id: string, lengthMax: number): void {
  lengthWithin(field, id, 1, lengthMax);
  if (isBlank(id)) throw invalid(field, 'an ID that is not blank', shown(id));
}

function lengthWithin(field: string, text: string, min: number, max: number): void {
  if (text.length >= min && text.length <= max) return;
  throw invalid(field, `${min}..${max} characters`, String(text.length));
}
