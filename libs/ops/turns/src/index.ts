export { type Clock, Limit, PROCESS_CLOCK, unless } from './clock.js';
export { inSlices } from './in-slices.js';
export { Lane } from './lane.js';
export { SpacedWork } from './spaced-work.js';
export { turns } from './turns.js';
export { Slow, whileMoving } from './while-moving.js';
export { withinMs } from './within-ms.js';
