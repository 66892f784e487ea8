import { setTimeout as pause } from 'node:timers/promises';
import { MEBIBYTE } from '@tessera/units';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { CALL_KINDS } from './load-plan.js';
import type { LoadForm } from './loads.js';
import { medianRows, type Seen } from './overload-rows.js';
import { Offering, type Parts, partsOf } from './rounds.js';
import { ServedProcess } from './served-process.js';
import { keepOnCores, residentBytes, type Watched, watchedProcess } from './watched-service.js';

const DEADLINE_MS = 100;
const MEMORY_FORM = '3x';
const MINUTE_MS = 60_000;
const QUICK_MINUTE_MS = 5000;
/** Least capacity over that of the other checkout. */
const CAPACITY_BAR = 1.3;
/** First core: the service. Second core: the generator. */
const CORES = ['0', '1'] as const;

interface Side {
  readonly name: string;
  readonly served: ServedProcess;
  readonly watched: Watched;
  readonly rounds: Measurement[][];
}

async function started(name: string, isPinned: boolean, root?: string): Promise<Side> {
  const served = await ServedProcess.start({}, root);
  if (isPinned) keepOnCores([served.pid], CORES[0]);
  return { name, served, watched: watchedProcess(served), rounds: [] };
}

/** The demo as `npm start` serves it, where Node's thread is the limit, under all loads. */
export async function edge(context: SuiteContext): Promise<Measurement[]> {
  const { flags, say, quick } = context;
  const parts = partsOf(context, CALL_KINDS);
  const against = flags.text('against');
  const offering = new Offering(say);
  const sides: Side[] = [];
  try {
    sides.push(await started('edge', parts.isPinned));
    if (against !== undefined) {
      sides.push(await started('the other checkout', parts.isPinned, against));
    }
    if (parts.isPinned) offering.keepOnCores(CORES[1]);
    say(`cores: ${parts.isPinned ? 'the generator has one of its own' : 'all share all'}`);
    const memory = new Memory(quick ? QUICK_MINUTE_MS : MINUTE_MS);
    await inRounds(offering, sides, parts, memory);
    const rows = sides.flatMap(({ rounds }, at) => rowsOf(rounds, at === 0));
    return [...rows, ...comparedRows(sides, parts), ...memory.rows()];
  } finally {
    await offering.stop();
    for (const { served } of sides) await served.stop();
  }
}

/** Services take turns, and another one begins each time. */
async function inRounds(
  offering: Offering,
  sides: readonly Side[],
  parts: Parts,
  memory: Memory,
): Promise<void> {
  for (const { watched } of sides) await offering.warmUp(watched, parts);
  for (let turn = 0; turn < parts.rounds; turn++) {
    const order = turn % 2 === 0 ? sides : [...sides].reverse();
    for (const kind of parts.kinds) {
      for (const { name, watched, rounds } of order) {
        const isFirst = turn === 0 && kind === parts.kinds[0] && watched === sides[0]?.watched;
        const around = (form: LoadForm, run: () => Promise<Seen>) =>
          isFirst && form.name === MEMORY_FORM ? memory.around(watched, run) : run();
        const deadlinesMs = [DEADLINE_MS];
        const round = { name, watched, kind, parts, deadlinesMs, around };
        rounds.push(await offering.round(round));
      }
    }
  }
}

/** Medians of the rounds; the other checkout has no bars to reach. */
function rowsOf(rounds: readonly (readonly Measurement[])[], hasBars: boolean): Measurement[] {
  const rows = medianRows(rounds);
  return hasBars ? rows : rows.map((row) => Object.assign({}, row, { bar: null }));
}

/** Capacity by kind over that of the other checkout, by the ratios of the rounds. */
function comparedRows([own, other]: readonly Side[], { kinds }: Parts): Measurement[] {
  if (own === undefined || other === undefined) return [];
  const capacities = ({ name, rounds }: Side, kind: string) =>
    rounds.flat().filter((row) => row.name === `${name}, ${kind}: capacity`);
  return kinds.map((kind) => {
    const others = capacities(other, kind);
    const ratios = capacities(own, kind).map(({ value }, at) => value / (others[at]?.value ?? 0));
    const value = quantile(ratios, 0.5);
    return {
      name: `edge, ${kind}: capacity by turns`,
      value,
      unit: 'times',
      ratio: { value, to: 'the other checkout' },
      bar: kind === 'plain' ? CAPACITY_BAR : null,
    };
  });
}

/** Memory of the service before a load, behind it and a while later. */
class Memory {
  private seen: readonly (readonly [string, number])[] = [];

  constructor(private readonly whileMs: number) {}

  async around<T>(watched: Watched, run: () => Promise<T>): Promise<T> {
    const before = residentBytes(watched);
    const result = await run();
    const after = residentBytes(watched);
    await pause(this.whileMs);
    const seconds = this.whileMs / 1000;
    this.seen = [
      [`before ${MEMORY_FORM}`, before],
      [`behind ${MEMORY_FORM}`, after],
      [`${seconds} s later`, residentBytes(watched)],
    ];
    return result;
  }

  rows(): Measurement[] {
    return this.seen.map(([name, bytes]) => ({
      name: `edge: memory ${name}`,
      value: bytes / MEBIBYTE,
      unit: 'MiB',
      bar: null,
    }));
  }
}
