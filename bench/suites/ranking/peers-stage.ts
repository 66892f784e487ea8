import os from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LEVEL_CODES } from '../../models/model-shape.js';
import { randomModel } from '../../models/random-model.js';
import { PYTHON, SOURCES } from '../../peers/peer-kinds.js';
import { PeerProcess } from '../../peers/peer-process.js';
import { type Measurement, quantile } from '../../result.js';
import { absences, type Contestant, isThere, vllm } from '../relevance/contestants.js';
import type { SuiteContext } from '../suite.js';
import { PROMPT_TOKENS, shapeOf, someItems, withRanking } from './ranking-engine.js';

const ITEMS = { quick: 64, full: 200 };
const ROUNDS = { quick: 2, full: 3 };
const WAYS = ['packed', 'batched'] as const;
/** Before each question: threads of the engine asked before may still spin. */
const REST_MS = 250;
const BARS: Readonly<Record<string, number>> = {
  'transformers packed': 2,
  'transformers batched': 2,
  vLLM: 1.3,
};

interface Question {
  readonly tokens: Int32Array;
  readonly items: readonly (readonly number[])[];
}

interface Peer {
  readonly name: string;
  /** Milliseconds. */
  ask(question: Question): Promise<number>;
  close(): Promise<void>;
}

/** The same items behind the same prompt, which nobody has computed before, in turns. */
export async function peersStage(context: SuiteContext): Promise<Measurement[]> {
  const { quick, flags, say } = context;
  const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
  const form = quick ? 'quick' : 'full';
  const count = ITEMS[form];
  const peers = await startPeers(quick, threads, say);
  try {
    return await withRanking(context, threads, async ({ engine, ranking }) => {
      const times = new Map<string, number[]>();
      for (let round = 0; round <= ROUNDS[form]; round += 1) {
        say(`${count} items, round ${round} of ${ROUNDS[form]}`);
        const tokens = engine.prompt(PROMPT_TOKENS, 1000 + round);
        const ordinals = someItems(count, 1000 + round);
        const items = engine.sids(ordinals);
        const started = performance.now();
        await engine.rank({ tokens }, ordinals, ranking);
        const found: [string, number][] = [['Tessera', performance.now() - started]];
        for (const peer of peers) {
          await pause(REST_MS);
          found.push([peer.name, await peer.ask({ tokens, items })]);
        }
        if (round === 0) continue;
        for (const [name, ms] of found) times.set(name, [...(times.get(name) ?? []), ms]);
      }
      return [...rowsOf(times, count), ...absences(['transformers', 'vllm-engine'])];
    });
  } finally {
    for (const peer of peers) await peer.close();
  }
}

function rowsOf(times: ReadonlyMap<string, readonly number[]>, count: number): Measurement[] {
  const own = quantile(times.get('Tessera') ?? [], 0.5);
  return [...times].map(([name, ms]) => {
    const value = quantile(ms, 0.5);
    const row = { name: `${count} items and their prompt: ${name}`, value, unit: 'ms' };
    if (name === 'Tessera') return { ...row, bar: null };
    const ratio = { value: value / own, to: 'Tessera' };
    return { ...row, ratio, bar: BARS[name] ?? null, bound: 'at-least' as const };
  });
}

async function startPeers(quick: boolean, threads: number, say: (line: string) => void) {
  const shape = shapeOf(quick);
  const peers: Peer[] = [];
  if (isThere('transformers')) {
    for (const way of WAYS) {
      const words = [randomModel(shape, say), String(threads), way];
      const program = [join(SOURCES, 'ranking_peer.py'), ...words];
      const name = `transformers ${way}`;
      const process = await PeerProcess.start(name, PYTHON, program);
      peers.push({
        name,
        ask: async ({ tokens, items }) => {
          const question = { prompt: [...tokens], items: tokensOf(items) };
          return (await process.exchange<{ totalMs: number }>(question)).totalMs;
        },
        close: () => process.close(),
      });
    }
  }
  if (isThere('vllm-engine')) peers.push(ofPrompts(await vllm('bf16')({ shape, threads, say })));
  return peers;
}

/** A peer that is asked by whole prompts. */
function ofPrompts(peer: Contestant): Peer {
  return {
    name: 'vLLM',
    ask: async ({ tokens, items }) =>
      (await peer.ask(tokensOf(items).map((item) => [...tokens, ...item]))).totalMs,
    close: () => peer.close(),
  };
}

const tokensOf = (sids: readonly (readonly number[])[]) =>
  sids.map((sid) => sid.map((code, level) => level * LEVEL_CODES + code));
