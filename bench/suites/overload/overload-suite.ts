import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Measurement } from '../../result.js';
import type { Suite, SuiteContext } from '../suite.js';
import { floods } from './floods.js';
import { edgeBound, engineBound } from './goodput.js';
import { hostileQueries } from './hostile-queries.js';

const STAGES: Readonly<Record<string, (context: SuiteContext) => Promise<Measurement[]>>> = {
  engine: engineBound,
  edge: edgeBound,
  floods,
  hostile: inFolder,
};

export const OVERLOAD_STAGES = Object.keys(STAGES);

async function inFolder(context: SuiteContext): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-hostile-'));
  try {
    return await hostileQueries(context, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a service under more than it can do still does; the load comes from another process. */
export const overloadSuite: Suite = async (context) => {
  const wanted = context.flags.text('stage')?.split(',') ?? OVERLOAD_STAGES;
  const measurements: Measurement[] = [];
  for (const name of wanted) {
    const stage = STAGES[name];
    if (stage === undefined) {
      throw new Error(`--stage: expected ${OVERLOAD_STAGES.join(', ')}, got '${name}'`);
    }
    measurements.push(...(await stage(context)));
  }
  return measurements;
};
