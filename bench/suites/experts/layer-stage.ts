import os from 'node:os';
import type { Measurement } from '../../result.js';
import { type NativeResult, nativeResults } from '../native-bench.js';
import type { SuiteContext } from '../suite.js';
import { installCommand, isInstalled, LAYER_PEERS, peerResults } from './layer-peers.js';
import { medians, shapeRows } from './layer-rows.js';

const ROWS = { quick: [1, 16, 64, 576], full: [1, 16, 64, 576, 2304] };
/** Of a peer's cell in a round, at least. */
const SECONDS = { quick: 0.25, full: 0.5 };
/** All take turns: a shared machine's clock and load move within minutes. */
const ROUNDS = { quick: 2, full: 3 };

interface Shape {
  readonly name: string;
  readonly hidden: number;
  readonly experts: number;
  readonly chosen: number;
  readonly size: number;
}
const QWEN3: Shape = { name: 'Qwen3-30B-A3B', hidden: 2048, experts: 128, chosen: 8, size: 768 };
const SHAPES: readonly Shape[] = [
  QWEN3,
  { name: 'OLMoE', hidden: 2048, experts: 64, chosen: 8, size: 1024 },
  { name: 'Marco-Mini', hidden: 1024, experts: 256, chosen: 8, size: 768 },
];

/** One layer of experts of each shape, beside the machine's ceilings and other engines. */
export async function layerStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const known = SHAPES.map(({ name }) => name);
  const wanted = flags.someOf('shape', known, quick ? [QWEN3.name] : known);
  const threads = String(flags.text('threads') ?? os.availableParallelism());
  const form = quick ? 'quick' : 'full';
  const names = LAYER_PEERS.map(({ name }) => name);
  const asked = flags.someOf('peer', names, names);
  const peers = LAYER_PEERS.filter(({ name }) => asked.includes(name));
  const present = peers.filter(isInstalled);
  const measurements: Measurement[] = [];
  for (const shape of SHAPES.filter(({ name }) => wanted.includes(name))) {
    const own: NativeResult[] = [];
    const others: NativeResult[] = [];
    for (let round = 0; round < ROUNDS[form]; ++round) {
      say(`experts of ${shape.name}, round ${round}`);
      own.push(...(await ownResults(shape, threads, form)));
      for (const peer of present) {
        say(`experts of ${shape.name}, round ${round}, ${peer.name}`);
        const sizes = [SECONDS[form], ...sizesOf(shape)].map(String);
        others.push(...(await peerResults(peer, [threads, ...sizes, ROWS[form].join(',')])));
      }
    }
    measurements.push(...shapeRows(shape.name, medians(own), medians(others)));
  }
  const absent = peers.filter((peer) => !isInstalled(peer));
  return [...measurements, ...absent.map(absence)];
}

function absence(peer: (typeof LAYER_PEERS)[number]): Measurement {
  const name = `absent: ${peer.name} (${installCommand(peer)})`;
  return { name, value: 1, unit: 'peer', bar: null };
}

type Form = keyof typeof ROWS;

const sizesOf = ({ hidden, experts, chosen, size }: Shape) => [hidden, experts, chosen, size];

function ownResults(shape: Shape, threads: string, form: Form): Promise<readonly NativeResult[]> {
  const words = ['--threads', threads, '--rows', ROWS[form].join(','), '--shape'];
  const quick = form === 'quick' ? ['--quick'] : [];
  return nativeResults('experts_bench', [...words, sizesOf(shape).join(','), ...quick]);
}
