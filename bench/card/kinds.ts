import { join } from 'node:path';
import type { EngineAnswer } from '@tessera/engine';
import { temporaryFolder } from '@tessera/testing';
import { randomAdapter } from '../models/random-adapter.js';
import { randomHeads } from '../models/random-heads.js';
import { quantile } from '../result.js';
import {
  type Ask,
  BenchEngine,
  type BenchFolders,
  withEngine,
} from '../suites/engine/bench-engine.js';
import { type CardLine, lineOf } from './card-documents.js';
import { WHOLE_PROMPTS } from './card-models.js';
import { WIDTH } from './plan.js';

const BEST = 50;
const RANKED = 200;
const RANK = 16;
/** As the service's, for so many items. */
const ROW_BUDGET = 256 + 8 * BEST;
const ADAPTER_BYTES_MAX = 2 ** 30;
const STAGES = ['prefillUs', 'decodeUs', 'headUs', 'selectUs', 'exportUs'] as const;

export interface KindsOptions {
  readonly device: string;
  readonly contexts: readonly number[];
  readonly rounds: number;
}

/**
 * Recalls of one user: a beam, the same certified, with an adapter, and items that are ranked, in
 * turns on fresh prompts; what the passes of a beam take.
 */
export async function recallKinds(
  folders: BenchFolders,
  { device, contexts, rounds }: KindsOptions,
): Promise<CardLine[]> {
  const temporary = temporaryFolder({});
  try {
    const { path } = temporary;
    randomAdapter(join(path, 'adapter'), folders.shape, RANK, 1);
    randomHeads(join(path, 'heads'), folders.shape, 1);
    const options = Object.assign({ device, adapterBytesMax: ADAPTER_BYTES_MAX }, WHOLE_PROMPTS);
    const opened = BenchEngine.openFolders(folders, 'bf16', options);
    return await withEngine(opened, async (engine) => {
      const asks = await asksOf(engine, path);
      const lines: CardLine[] = [];
      for (const context of contexts) lines.push(...(await inTurns(engine, asks, context, rounds)));
      return lines;
    });
  } finally {
    temporary.remove();
  }
}

type Asks = Readonly<Record<string, Omit<Ask, 'tokens'>>>;

async function asksOf(engine: BenchEngine, folder: string): Promise<Asks> {
  const adapter = await engine.loadAdapter(join(folder, 'adapter'));
  const heads = await engine.loadAdapter(join(folder, 'heads'));
  const ranking = { adapter: heads, prefix: new Int32Array(), suffixes: [] };
  const items = { width: WIDTH, resultCount: RANKED };
  return {
    beam: { width: WIDTH, resultCount: BEST },
    'certified 50': { width: WIDTH, resultCount: BEST, rowBudget: ROW_BUDGET },
    'beam with an adapter': { width: WIDTH, resultCount: BEST, adapter },
    '200 items': items,
    '200 items ranked': { ...items, ranking },
  };
}

/** The first round warms up. */
async function inTurns(
  engine: BenchEngine,
  asks: Asks,
  context: number,
  rounds: number,
): Promise<CardLine[]> {
  const times = new Map<string, number[]>();
  const beams: EngineAnswer[] = [];
  const certified: boolean[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, [kind, ask]] of Object.entries(asks).entries()) {
      const tokens = engine.prompt(context, 10_000 * (round + 1) + 100 * at + 7);
      const begun = performance.now();
      const answer = await engine.recall({ ...ask, tokens });
      if (round === 0) continue;
      times.set(kind, [...(times.get(kind) ?? []), 1000 * (performance.now() - begun)]);
      if (kind === 'beam') beams.push(answer);
      if (kind === 'certified 50') certified.push(answer.certified);
    }
  }
  const name = `${engine.shape.name}/context ${context}`;
  const proven = certified.filter(Boolean).length / certified.length;
  return [
    ...[...times].map(([kind, taken]) =>
      lineOf(`kinds/${name}/${kind}`, quantile(taken, 0.5), 'us'),
    ),
    lineOf(`kinds/${name}/certified 50, proven`, proven, 'share'),
    ...STAGES.map((stage) => {
      const taken = beams.map(({ timings }) => timings[stage]);
      return lineOf(`passes/${name}/${stage.replace('Us', '')}`, quantile(taken, 0.5), 'us');
    }),
  ];
}
