/** Keys of recalls: what requests get where they say nothing, and what they may ask for. */

import { z } from 'zod';
import { ENGINE_LIMITS } from './generated/engine-limits.js';
import { integer, oneOf, text } from './schema-fields.js';

export const RECALL_LIMITS = {
  widthListMax: 64,
  itemsPerSidMax: 1_000_000,
  historyItemsMax: 1_000_000,
  historyTrimPercentMax: 90,
  rememberedMax: 1_000_000,
  millisecondsMax: 3_600_000,
} as const;

const L = { ...ENGINE_LIMITS, ...RECALL_LIMITS };

const widths = z
  .array(z.int().min(1).max(L.widthMax))
  .min(1)
  .max(L.widthListMax)
  .default([50])
  .meta({
    expected: `1..${L.widthListMax} integers of 1..${L.widthMax}, separated by commas`,
    meaning: 'beam width per step where the request gives none; the last holds for further steps',
  });

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
  defaultWidths: widths,
  itemsPerSid: integer(
    0,
    L.itemsPerSidMax,
    0,
    'items of one semantic ID in an answer; 0: as few as fill the answer',
  ),
  scoreNorm: oneOf(
    ['full', 'level', 'allowed'],
    'full',
    'tokens that scores are normalised over, unless the request names them',
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
    'longest deadline of a request, milliseconds; longer ones are shortened',
  ),
});
