import { expect, it } from 'vitest';
import { type BehaviourEvent, checkBehaviourEvent } from './behaviour-event.js';
import { parseUsers } from './parse-users.js';

const NOW_MS = 1_795_500_000_000;
const EVENT: BehaviourEvent = {
  userId: 'u',
  eventId: 'e',
  itemId: 'i',
  action: '',
  timeMs: NOW_MS,
  scene: {},
};
const check = (over: Partial<BehaviourEvent>) => () =>
  checkBehaviourEvent({ ...EVENT, ...over }, NOW_MS);

it.each(['userId', 'eventId', 'itemId', 'action', 'requestId'] as const)(
  'an event is refused whose %s is blank',
  (field) => {
    expect(check({})).not.toThrow();
    for (const blank of [' ', '\t\n', '\u00a0\u3000']) {
      expect(check({ [field]: blank })).toThrow(`${field}: expected an ID that is not blank`);
    }
  },
);

it('an event is refused whose time was not set', () => {
  expect(check({ timeMs: 0 })).toThrow(
    'timeMs: expected milliseconds since 1970, got 0, as where no time was set',
  );
  expect(check({ timeMs: 1 })).not.toThrow();
});

it.each([{ ' ': ['i'] }, { u: [' '] }])('a file of users is refused with %j', (document) => {
  expect(() => parseUsers(document, 'users.json', NOW_MS)).toThrow('an ID that is not blank');
});
