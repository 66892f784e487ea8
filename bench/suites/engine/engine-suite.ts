import { SHAPES, type ShapeName } from '../../models/model-shape.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { aloneStage } from './alone.js';
import { kernelsStage } from './kernels.js';
import { loadStage } from './load.js';
import { longPromptStage } from './long-prompt.js';
import { type ComputeType, probeMachine } from './machine.js';
import { peersStage } from './peers.js';
import { plannedStage } from './planned.js';
import type { Stage } from './stage.js';
import { vocabularyStage } from './vocabulary.js';

/** In the order in which they run. */
const STAGES = {
  kernels: kernelsStage,
  alone: aloneStage,
  load: loadStage,
  'long-prompt': longPromptStage,
  planned: plannedStage,
  vocabulary: vocabularyStage,
  peers: peersStage,
} as const satisfies Readonly<Record<string, Stage>>;

export const STAGE_NAMES = Object.keys(STAGES) as readonly (keyof typeof STAGES)[];
const SHAPE_NAMES = Object.keys(SHAPES) as readonly ShapeName[];
const COMPUTE_TYPES: readonly ComputeType[] = ['f32', 'bf16', 'w8a8'];
/** The others take long, or are not there on a fresh clone. */
const LONG_STAGES: readonly (keyof typeof STAGES)[] = ['planned', 'vocabulary', 'peers'];
const QUICK_STAGES = STAGE_NAMES.filter((name) => !LONG_STAGES.includes(name));
const QUICK_SHAPES: readonly ShapeName[] = ['8x512'];
const USUAL_SHAPES: readonly ShapeName[] = ['8x512', 'qwen3-0.6b'];

/** The engine against the ceilings of the machine, under load, and beside other engines. */
export async function engineSuite(context: SuiteContext): Promise<Measurement[]> {
  const { quick, flags, say } = context;
  const stages = flags.someOf('stage', STAGE_NAMES, quick ? QUICK_STAGES : STAGE_NAMES);
  const shapes = flags.someOf('shape', SHAPE_NAMES, quick ? QUICK_SHAPES : USUAL_SHAPES);
  const computeTypes = flags.someOf('compute', COMPUTE_TYPES, COMPUTE_TYPES);
  say('roofline probe');
  const machine = await probeMachine(quick);
  const measurements: Measurement[] = [...machine.measurements];
  for (const name of stages) {
    say(`stage ${name}`);
    const stage = STAGES[name];
    measurements.push(...(await stage({ quick, flags, say, machine, shapes, computeTypes })));
  }
  return measurements;
}
