import { type Stages, staged } from '../suite.js';
import { besideStage } from './beside-stage.js';
import { placedStage } from './placed-stage.js';
import { ranksStage } from './ranks-stage.js';
import { staticStage } from './static-stage.js';
import { throughputStage } from './throughput-stage.js';

const STAGES: Stages = {
  throughput: throughputStage,
  static: staticStage,
  ranks: ranksStage,
  beside: besideStage,
  placed: placedStage,
};

export const EMBEDDING_STAGES = Object.keys(STAGES);

/** Vectors of texts: how many a second, and what they cost recalls. */
export const embeddingSuite = staged(STAGES);
