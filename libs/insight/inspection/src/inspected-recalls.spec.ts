import { Erasures } from '@tessera/erasure';
import type { RecallAnswer, RecallRequest } from '@tessera/recall';
import { expect, it } from 'vitest';
import type { InspectionStore } from './domain/inspection-store.js';
import { InspectedRecalls } from './inspected-recalls.js';

const CONTEXT = { signal: new AbortController().signal, budgetUs: 1e6 };
const request = (userId: string) => ({ requestId: '', userId }) as RecallRequest;

/** A share is recorded, which is all; `during` happens while a recall runs. */
function recallsWith(erasures: Erasures, during: () => RecallAnswer, percent = 100) {
  const offered: string[] = [];
  const store = {
    offer: ({ request: { userId = '' } }: { request: RecallRequest }) => {
      offered.push(userId);
      return true;
    },
  } as unknown as InspectionStore;
  const recalls = new InspectedRecalls({
    serving: { recall: async () => during(), erasures },
    store,
    rules: { percent, users: new Set() },
    catalogueSequence: () => 0,
    nowMs: () => 0,
    draw: () => 0.5,
    pulseMs: 1e6,
  });
  return { recalls, offered };
}

const ANSWER = {
  requestId: '',
  items: [],
  kv: { tokensByTier: {} },
  timings: {},
  widthsUsed: [],
} as unknown as RecallAnswer;

it('records no recall that began before its user was erased, answered or not', async () => {
  const erasures = new Erasures();
  let act: () => RecallAnswer = () => ANSWER;
  const { recalls, offered } = recallsWith(erasures, () => act());
  act = () => {
    erasures.note('a');
    return ANSWER;
  };
  await recalls.recall(request('a'), CONTEXT);
  await recalls.recall(request('b'), CONTEXT);
  act = () => {
    erasures.note('a');
    throw new Error('x');
  };
  await expect(recalls.recall(request('a'), CONTEXT)).rejects.toThrow('x');
  act = () => ANSWER;
  const { recordId } = await recalls.try(request('a'), CONTEXT);
  expect(recordId).not.toBe('');
  expect(offered).toEqual(['b', 'a']);
  recalls.close();
});

it('records the recalls that draw among all items, and of a pulse so many at most', async () => {
  const { recalls, offered } = recallsWith(new Erasures(), () => ANSWER, 0);
  const drawing = (userId: string, more: object = {}) =>
    recalls.recall(Object.assign(request(userId), { explore: { slots: 1 } }, more), CONTEXT);
  await recalls.recall(request('plain'), CONTEXT);
  await drawing('of a part', { eligibility: { denied: [], seen: [], drawn: {} } });
  await drawing('ranked', { rank: {} });
  for (let at = 0; at < 60; at++) await drawing(`drawn ${at}`);
  expect(offered).toEqual(Array.from({ length: 50 }, (_, at) => `drawn ${at}`));
  recalls.close();
});
