import { type Stages, staged } from '../suite.js';
import { submitting } from './submitting.js';

const STAGES: Stages = { submit: submitting };

export const SEAM_STAGES = Object.keys(STAGES);

/** What the seams between the parts cost: a stage per row of their table of bars. */
export const seamsSuite = staged(STAGES);
