import { type Stages, staged } from '../suite.js';
import { factsCost } from './facts-cost.js';
import { bytesOfFacts, lostFacts } from './facts-on-disk.js';
import { questionTimes } from './question-times.js';
import { selectUnderLoad } from './select-under-load.js';

const STAGES: Stages = {
  bytes: bytesOfFacts,
  losses: lostFacts,
  questions: questionTimes,
  cost: factsCost,
  sql: selectUnderLoad,
};

export const CONSOLE_STAGES = Object.keys(STAGES);

/** Facts of every recall: what they take, what they cost, and how fast they answer. */
export const consoleSuite = staged(STAGES);
