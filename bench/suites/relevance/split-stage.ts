import { lowerBoundUs, type PairWork, type SplitNode, splitWork } from '@tessera/routing';
import { Random } from '../../models/random.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';

const NODES = [2, 4, 8, 16];
const DOCUMENTS_OF_A_NODE = 16;
const ROUNDS = { quick: 20, full: 200 };
const LENGTHS = { median: 150, spread: 0.8, least: 8, most: 2000 };
const SHARED_TOKENS = 120;
/** As a node of two threads that serves 8x512 publishes. */
const NODE: SplitNode = { tokenUs: 500, pairUs: 0.05, backlogUs: 0, partUs: 2000 };
const BAR = 1.1;

/** Documents of lognormal length, dealt to nodes by compute and by number; simulated. */
export async function splitStage({ quick }: SuiteContext): Promise<Measurement[]> {
  return NODES.flatMap((count) => {
    const [byCompute, byCount, longest] = worst(count, quick ? ROUNDS.quick : ROUNDS.full);
    const name = `${DOCUMENTS_OF_A_NODE * count} documents on ${count} nodes, simulated`;
    const row = (what: string, value: number, bar: number | null): Measurement => ({
      name: `${name}: ${what}, largest`,
      value,
      unit: 'x',
      bar,
      bound: 'at-most',
    });
    return [
      row('finish over the lower bound', byCompute, BAR),
      row('finish over the lower bound, split by count', byCount, null),
      row('longest over mean part', longest, BAR),
    ];
  });
}

function worst(count: number, rounds: number): readonly [number, number, number] {
  let [byCompute, byCount, longest] = [0, 0, 0];
  for (let seed = 0; seed < rounds; seed += 1) {
    const random = new Random(seed);
    const tokens = Array.from({ length: DOCUMENTS_OF_A_NODE * count }, () =>
      random.length(LENGTHS),
    );
    const work = { sharedTokens: SHARED_TOKENS, tokens, common: tokens.map(() => 0) };
    const nodes = Array.from({ length: count }, () => NODE);
    const boundUs = lowerBoundUs(work, nodes);
    const parts = splitWork(work, nodes);
    const us = parts.map((part) => part.us);
    const mean = us.reduce((sum, one) => sum + one, 0) / us.length;
    byCompute = Math.max(byCompute, Math.max(...us) / boundUs);
    longest = Math.max(longest, Math.max(...us) / mean);
    byCount = Math.max(byCount, finishByCountUs(work, count) / boundUs);
  }
  return [byCompute, byCount, longest];
}

/** Each node gets as many documents, in their order. */
function finishByCountUs({ tokens, sharedTokens }: PairWork, count: number): number {
  const parts = Array.from({ length: count }, (_, node) => {
    const own = tokens.filter((_, at) => Math.floor(at / DOCUMENTS_OF_A_NODE) === node);
    const [only] = splitWork({ sharedTokens, tokens: own, common: own.map(() => 0) }, [NODE]);
    return only?.us ?? 0;
  });
  return Math.max(...parts);
}
