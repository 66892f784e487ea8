import type { Measurement } from '../../result.js';
import type { Suite, SuiteContext } from '../suite.js';
import { alternating } from './alternating.js';
import { served } from './served.js';

const STAGES: Readonly<Record<string, (context: SuiteContext) => Promise<Measurement[]>>> = {
  served,
  rest: alternating,
};

export const EDGE_STAGES = Object.keys(STAGES);

/**
 * What a recall costs outside the engine, asked over gRPC from another process by a client that
 * costs little, of the service as `npm start` runs it.
 */
export const edgesSuite: Suite = async (context) => {
  const wanted = context.flags.text('stage')?.split(',') ?? EDGE_STAGES;
  const measurements: Measurement[] = [];
  for (const name of wanted) {
    const stage = STAGES[name];
    if (stage === undefined) {
      throw new Error(`--stage: expected ${EDGE_STAGES.join(', ')}, got '${name}'`);
    }
    measurements.push(...(await stage(context)));
  }
  return measurements;
};
