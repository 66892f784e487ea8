import { type Stages, staged } from '../suite.js';
import { rateStage } from './rate-stage.js';
import { scoresStage } from './scores-stage.js';
import { tokensStage } from './tokens-stage.js';

const STAGES: Stages = { scores: scoresStage, tokens: tokensStage, rate: rateStage };

export const RELEVANCE_STAGES = Object.keys(STAGES);

/** Texts scored for a query: right, each token once, and how many a second beside peers. */
export const relevanceSuite = staged(STAGES);
