import { type Stages, staged } from '../suite.js';
import { besideStage } from './beside-stage.js';
import { loadStage } from './load-stage.js';
import { nodesStage } from './nodes-stage.js';
import { oddsStage } from './odds-stage.js';
import { rateStage } from './rate-stage.js';
import { scoresStage } from './scores-stage.js';

const STAGES: Stages = {
  scores: scoresStage,
  odds: oddsStage,
  rate: rateStage,
  beside: besideStage,
  load: loadStage,
  nodes: nodesStage,
};

export const RELEVANCE_STAGES = Object.keys(STAGES);

/** Texts scored for a query: right, how many a second, and beside recalls. */
export const relevanceSuite = staged(STAGES);
