import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Measurement } from '../../result.js';
import { type Stages, type SuiteContext, staged } from '../suite.js';
import { edge } from './edge-stage.js';
import { floods } from './floods.js';
import { gateway } from './gateway-stage.js';
import { engineBound } from './goodput.js';
import { hostileQueries } from './hostile-queries.js';

const STAGES: Stages = {
  engine: engineBound,
  edge,
  gateway,
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

/** The work of an overloaded service; the load comes from another process. */
export const overloadSuite = staged(STAGES);
