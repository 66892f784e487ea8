import { staged } from '../suite.js';
import { estimatesStage } from './estimates-stage.js';

const STAGES = { estimates: estimatesStage };

export const VALUE_STAGES = Object.keys(STAGES);
export const valueSuite = staged(STAGES);
