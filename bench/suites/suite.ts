import type { Flags } from '../../tools/terminal/command.js';
import type { Measurement } from '../result.js';

export interface SuiteContext {
  /** A form that ends within three minutes on two cores. */
  readonly quick: boolean;
  readonly flags: Flags;
  /** Tells what is going on; one line each. */
  readonly say: (line: string) => void;
}

/** A suite measures and returns numbers; the runner judges, prints and keeps them. */
export type Suite = (context: SuiteContext) => Promise<Measurement[]>;

export type Stages = Readonly<Record<string, Suite>>;

/** A suite of stages, one after another; `--stage` names some of them. */
export const staged =
  (stages: Stages): Suite =>
  async (context) => {
    const names = Object.keys(stages);
    const measurements: Measurement[] = [];
    for (const name of context.flags.someOf('stage', names, names)) {
      measurements.push(...(await (stages[name] as Suite)(context)));
    }
    return measurements;
  };
