/** Keys of recalls: what requests get where they say nothing, and what they may ask for. */

import { z } from 'zod';
import { ENGINE_LIMITS } from './generated/engine-limits.js';
import { integer, oneOf, text } from './schema-fields.js';

export const RECALL_LIMITS = {
  historyItemsMax: 1_000_000,
  millisecondsMax: 3_600_000,
} as const;

const L = { ...ENGINE_LIMITS, ...RECALL_LIMITS };

export const recallSchema = z.strictObject({
  search: oneOf(
    ['certified', 'beam'],
    'certified',
    'search of requests without search or widths; certified: until no omitted item can score ' +
      'better',
  ),
  rowBudget: integer(
    0,
    L.rowBudgetMax,
    0,
    'rows of beams of a certified search; 0: 256, plus 8 for each requested item',
  ),
  historyItemsMax: integer(1, L.historyItemsMax, 10_000, 'items of a history'),
  withoutFeatures: oneOf(
    ['refuse', 'answer'],
    'refuse',
    'recalls by user while the store of behaviours is unavailable: refused, or answered from ' +
      'the profile and scene of the request',
  ),
  withoutHistory: oneOf(
    ['answer', 'popular', 'refuse'],
    'answer',
    'recalls of users without behaviours in the catalogue: answered from profile and scene, ' +
      'answered with popular items (of this process), or refused',
  ),
  frequencyCaps: text(
    '',
    'frequency caps of recalls without their own: impression=3,1d; view=9,7d,campaign; ' +
      '*=1,36500d leaves out every item the user has seen',
  ),
  valuations: text(
    '',
    'JSON file of the formulas by which requests may value items; empty: valuations.json in the ' +
      "model folder, if it is there and the folder's catalogue is served",
  ),
  defaultDeadlineMs: integer(
    1,
    L.millisecondsMax,
    5000,
    'milliseconds of a recall without a deadline',
  ),
  deadlineMsMax: integer(
    1,
    L.millisecondsMax,
    60_000,
    'longest deadline of a request, milliseconds; a longer one of a gRPC call is shortened, a ' +
      'longer deadline_ms refused',
  ),
});
