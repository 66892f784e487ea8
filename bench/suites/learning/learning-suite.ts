import { type Stages, staged } from '../suite.js';
import { freshStage } from './fresh-stage.js';
import { liveStage } from './live-stage.js';
import { loopStage } from './loop-stage.js';

const STAGES: Stages = { loop: loopStage, live: liveStage, fresh: freshStage };

export const LEARNING_STAGES = Object.keys(STAGES);

/** A trainer that follows a simulated world through a running service. */
export const learningSuite = staged(STAGES);
