import { fail } from '../../../tools/terminal/command.js';
import type { Measurement } from '../../result.js';
import type { Suite, SuiteContext } from '../suite.js';
import { submitting } from './submitting.js';

const STAGES: Readonly<Record<string, (context: SuiteContext) => Promise<Measurement[]>>> = {
  submit: submitting,
};
export const SEAM_STAGES = Object.keys(STAGES);

/** What the seams between the parts cost: a stage per row of their table of bars. */
export const seamsSuite: Suite = async (context) => {
  const named = context.flags.text('stage')?.split(',') ?? SEAM_STAGES;
  const measurements: Measurement[] = [];
  for (const name of named) {
    const stage = Object.hasOwn(STAGES, name) ? STAGES[name] : undefined;
    if (stage === undefined) fail('stage', `of ${SEAM_STAGES.join(', ')}`, name);
    measurements.push(...(await stage(context)));
  }
  return measurements;
};
