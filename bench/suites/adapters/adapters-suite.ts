import { type Stages, staged } from '../suite.js';
import { goingOn } from './going-on.js';
import { throughput } from './throughput.js';
import { weights } from './weights.js';

const PARTS: Stages = { throughput, weights, 'going-on': goingOn };

export const ADAPTER_PARTS = Object.keys(PARTS);

/** The costs of adapters while they serve, and of their coming and going. */
export const adaptersSuite = staged(PARTS);
