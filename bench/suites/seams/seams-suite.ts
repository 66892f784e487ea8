import { type Stages, staged } from '../suite.js';
import { crossing } from './crossing.js';
import { reading } from './reading.js';
import { submitting } from './submitting.js';

const STAGES: Stages = { submit: submitting, crossing, reads: reading };

export const SEAM_STAGES = Object.keys(STAGES);

/** The costs of the seams between the parts: a stage per row of their table of bars. */
export const seamsSuite = staged(STAGES);
