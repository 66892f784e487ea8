import type { ShapeName } from '../../models/model-shape.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import type { ComputeType, Machine } from './machine.js';

export interface StageContext extends SuiteContext {
  readonly machine: Machine;
  readonly shapes: readonly ShapeName[];
  readonly computeTypes: readonly ComputeType[];
}

/** A part of the suite that can be asked for alone. */
export type Stage = (context: StageContext) => Promise<Measurement[]>;
