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
    'how items are found where the request says neither search nor widths; certified: until ' +
      'no other can be better',
  ),
  rowBudget: integer(
    0,
    L.rowBudgetMax,
    0,
    'rows of beams that a certified search computes at most; 0: 256, and 8 for each item wanted',
  ),
  defaultWidths: widths,
  defaultResultCount: integer(1, L.resultCountMax, 10, 'items where the request gives no count'),
  itemsPerSid: integer(0, L.itemsPerSidMax, 0, 'items of a SID; 0: as few as fill the answer'),
  scoreNorm: oneOf(
    ['full', 'level', 'allowed'],
    'full',
    'over which tokens scores are normalised, by default',
  ),
  historyItemsMax: integer(1, L.historyItemsMax, 10_000, 'items of a history at most'),
  withoutFeatures: oneOf(
    ['refuse', 'answer'],
    'refuse',
    'recalls by user while the store of behaviours does not answer: refuse them, or answer ' +
      'from profile and scene of the request',
  ),
  withoutHistory: oneOf(
    ['answer', 'popular', 'refuse'],
    'answer',
    'recalls of users without behaviours in the catalogue: answer them from profile and scene, ' +
      'with the items that are popular (behaviours of this process alone), or refuse them',
  ),
  frequencyCaps: text(
    '',
    'where a recall names none: impression=3,1d; view=9,7d,campaign; *=1,36500d leaves out ' +
      'whatever the user already has',
  ),
  historyTrimPercent: integer(
    0,
    L.historyTrimPercentMax,
    50,
    'percent of historyItemsMax left out at most, so that prompts begin alike; 0: they slide',
  ),
  rememberedRecalls: integer(0, L.rememberedMax, 1024, 'newest prompts kept for explanations'),
  defaultDeadlineMs: integer(
    1,
    L.millisecondsMax,
    5000,
    'milliseconds a recall may take where the request gives no deadline',
  ),
  deadlineMsMax: integer(
    1,
    L.millisecondsMax,
    60_000,
    'milliseconds that a request may ask for; a longer deadline of a call is shortened to it',
  ),
});
