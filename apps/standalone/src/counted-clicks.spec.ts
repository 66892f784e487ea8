import { type BehaviourEvent, Popularity, parseClickActions } from '@tessera/behaviour';
import { expect, it } from 'vitest';
import { countedClicks } from './counted-clicks.js';

const NOW = 1e12;

const event = (itemId: string, action: string): BehaviourEvent => ({
  userId: 'ada',
  eventId: `${itemId}-${action}`,
  itemId,
  action,
  timeMs: NOW,
  scene: {},
});

function counted(actions: string, events: readonly BehaviourEvent[]) {
  const clicked: string[] = [];
  const popularity = new Popularity(() => NOW);
  const watch = {
    clicked: (userId: string, itemId: string) => clicked.push(`${userId} ${itemId}`),
  };
  countedClicks(parseClickActions(actions), watch, popularity)(events);
  return { clicked, popular: popularity.order() };
}

const SHOWN = [event('a', 'impression'), event('b', 'impression'), event('b', 'click')];

it('counts clicks and no impressions, for canaries and for popular items', () => {
  expect(counted('click', SHOWN)).toEqual({ clicked: ['ada b'], popular: ['b'] });
});

it('counts the actions that the configuration names', () => {
  const events = [...SHOWN, event('c', 'buy'), event('d', '')];
  expect(counted('buy', events).clicked).toEqual(['ada c', 'ada d']);
  expect(counted('*', events).clicked).toHaveLength(events.length);
});
