import { type Stages, staged } from '../suite.js';
import { peersStage } from './peers-stage.js';
import { shopStage } from './shop-stage.js';
import { timesStage } from './times-stage.js';

const STAGES: Stages = {
  times: timesStage,
  peers: peersStage,
  shop: shopStage,
};

export const RANKING_STAGES = Object.keys(STAGES);

/** Heads over items on the state of a recall: its time, and beside other engines. */
export const rankingSuite = staged(STAGES);
