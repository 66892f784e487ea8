import { expect, it } from 'vitest';
import { marksOf } from './questions/marks.js';

const HOUR_MS = 3_600_000;
const batch = (timeMs: number, sequence: number, own: Record<string, unknown>) => {
  const said = { source: 'gRPC', op: 'patch_attributes', changes: 0 };
  return Object.assign({ time_ms: timeMs, sequence }, said, own);
};

it('makes one mark of the batches of an hour, where the first of them is', () => {
  const marks = marksOf([
    [
      batch(HOUR_MS + 9000, 30, { patched: 4 }),
      batch(HOUR_MS + 5000, 20, { patched: 2, paused: 1 }),
      batch(HOUR_MS + 7000, 21, { op: 'set_pace', changes: 3 }),
      batch(2 * HOUR_MS, 31, { added: 5 }),
    ],
    [{ time_ms: HOUR_MS + 6000, kind: 'adapter', digest: 'd', name: 'ads', state: 'canary' }],
  ]);
  expect(marks.map(({ timeMs, text }) => [timeMs, text])).toEqual([
    [HOUR_MS + 5000, '3 batches: 6 patched, 1 paused, 3 set_pace'],
    [HOUR_MS + 6000, 'ads: canary'],
    [2 * HOUR_MS, 'gRPC: 5 added'],
  ]);
  expect(marks[0]).toMatchObject({ changes: 10, firstSequence: 20, sequence: 30 });
});
