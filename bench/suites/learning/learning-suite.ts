import { type Stages, staged } from '../suite.js';
import { freshStage } from './fresh-stage.js';
import { killsStage } from './kills-stage.js';
import { liveStage } from './live-stage.js';
import { loopStage } from './loop-stage.js';
import { poisonStage } from './poison-stage.js';

const STAGES: Stages = {
  loop: loopStage,
  fresh: freshStage,
  live: liveStage,
  kills: killsStage,
  poison: poisonStage,
};

export const LEARNING_STAGES = Object.keys(STAGES);

/** A trainer that follows a simulated world through a running service. */
export const learningSuite = staged(STAGES);
