import { type Stages, staged } from '../suite.js';
import { goingOn } from './going-on.js';
import { push } from './push.js';
import { rollout } from './rollout.js';
import { throughput } from './throughput.js';
import { weights } from './weights.js';

const PARTS: Stages = { throughput, push, rollout, weights, 'going-on': goingOn };

export const ADAPTER_PARTS = Object.keys(PARTS);

/** What adapters cost while they serve, and how they come and go. */
export const adaptersSuite = staged(PARTS);
