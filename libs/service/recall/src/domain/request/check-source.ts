import { expecting, isBlank, shown } from '@tessera/errors';
import type { RequestLimits } from './request-limits.js';
import type { UserSource } from './request-types.js';

export const invalid = expecting('REQUEST_INVALID');

const REQUEST_ID_LENGTH_MAX = 128;
const USER_ID_LENGTH_MAX = 256;
const ITEM_ID_LENGTH_MAX = 1024;

/** Keys of the request's profile, and of its scene. */
const SLOTS_MAX = 256;

export function checkSource(request: UserSource, limits: RequestLimits): void {
  if (request.requestId.length > REQUEST_ID_LENGTH_MAX) {
    throw invalid(
      'requestId',
      `at most ${REQUEST_ID_LENGTH_MAX} characters`,
      request.requestId.length,
    );
  }
  checkWho(request, limits);
  checkSlots('profile', request.profile, limits.profileKeys);
  checkSlots('scene', request.scene, limits.sceneKeys);
}

function checkWho({ userId, history }: UserSource, limits: RequestLimits): void {
  if ((userId === undefined) === (history === undefined)) {
    throw invalid(
      'userId',
      'exactly one of userId and history',
      userId === undefined ? 'none' : 'both',
    );
  }
  if (userId !== undefined) checkId('userId', userId, USER_ID_LENGTH_MAX);
  if (history === undefined) return;
  if (history.length > limits.historyItemsMax) {
    throw invalid('history', `0..${limits.historyItemsMax} items`, history.length);
  }
  history.forEach((itemId, index) => {
    checkItemId(`history[${index}]`, itemId);
  });
}

export const checkItemId = (field: string, itemId: string): void =>
  checkId(field, itemId, ITEM_ID_LENGTH_MAX);

function checkId(field: string, id: string, lengthMax: number): void {
  if (id.length < 1 || id.length > lengthMax) {
    throw invalid(field, `1..${lengthMax} characters`, id.length);
  }
  if (isBlank(id)) throw invalid(field, 'an ID that is not blank', shown(id));
}

/** The values are checked by the template's slots; a key without a slot is a typing error. */
function checkSlots(
  kind: 'profile' | 'scene',
  given: Readonly<Record<string, string>>,
  known: readonly string[],
): void {
  const keys = Object.keys(given);
  if (keys.length > SLOTS_MAX) throw invalid(kind, `at most ${SLOTS_MAX} keys`, keys.length);
  const stranger = keys.find((key) => !known.includes(key));
  if (stranger === undefined) return;
  const slots = known.length === 0 ? 'no key' : `one of the keys ${known.join(', ')}`;
  const name = stranger.slice(0, 80);
  throw invalid(`${kind}.${name}`, `${slots} (the slots of the prompt template)`, `'${name}'`);
}
