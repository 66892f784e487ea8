import { fail } from '../../../tools/terminal/command.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { goingOn } from './going-on.js';
import { push } from './push.js';
import { rollout } from './rollout.js';
import { throughput } from './throughput.js';
import { weights } from './weights.js';

type Part = (context: SuiteContext) => Promise<Measurement[]>;

const PARTS: Readonly<Record<string, Part>> = {
  ...{ throughput, push, rollout, weights },
  'going-on': goingOn,
};

export const ADAPTER_PARTS = Object.keys(PARTS);

/** What adapters cost while they serve, and how they come and go. */
export async function adaptersSuite(context: SuiteContext): Promise<Measurement[]> {
  const wanted = context.flags.text('stage')?.split(',') ?? ADAPTER_PARTS;
  for (const name of wanted) {
    if (!Object.hasOwn(PARTS, name)) fail('stage', `of ${ADAPTER_PARTS.join(', ')}`, name);
  }
  const measurements: Measurement[] = [];
  for (const name of wanted) measurements.push(...(await (PARTS[name] as Part)(context)));
  return measurements;
}
