import { existsSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { PYTHON, TRANSFORMERS_MARK } from '../../peers/peer-kinds.js';
import { PEER_ENVIRONMENT } from '../../peers/peer-process.js';
import type { Measurement } from '../../result.js';
import { type NativeResult, nativeResults, output } from '../native-bench.js';
import type { SuiteContext } from '../suite.js';
import { expertsRows } from './experts-rows.js';

const PEER = join(repositoryRoot, 'bench', 'peers', 'experts_peer.py');
const INSTALL = 'node bench/peers/install.mjs transformers';
const ROWS = { quick: [1, 16, 64, 576], full: [1, 16, 64, 576, 2304] };
/** Of a peer's cell, at least. */
const SECONDS = { quick: 0.25, full: 1 };

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

/** One layer of experts of each shape, beside the machine's ceilings and transformers. */
export async function expertsSuite({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const known = SHAPES.map(({ name }) => name);
  const wanted = flags.someOf('shape', known, quick ? [QWEN3.name] : known);
  const threads = String(flags.text('threads') ?? os.availableParallelism());
  const hasPeer = existsSync(TRANSFORMERS_MARK);
  if (!hasPeer) say(`transformers is not installed: ${INSTALL}`);
  const measurements: Measurement[] = [];
  for (const shape of SHAPES.filter(({ name }) => wanted.includes(name))) {
    say(`experts of ${shape.name}`);
    const own = await ownResults(shape, threads, quick ? 'quick' : 'full');
    if (hasPeer) say(`experts of ${shape.name} by transformers`);
    const peer = hasPeer ? await peerResults(shape, threads, quick ? 'quick' : 'full') : [];
    measurements.push(...expertsRows(shape.name, own, peer));
  }
  if (hasPeer) return measurements;
  const absent = { name: `absent: transformers (${INSTALL})`, value: 1, unit: 'peer', bar: null };
  return [...measurements, absent];
}

type Form = keyof typeof ROWS;

const sizesOf = ({ hidden, experts, chosen, size }: Shape) => [hidden, experts, chosen, size];

function ownResults(shape: Shape, threads: string, form: Form): Promise<readonly NativeResult[]> {
  const words = ['--threads', threads, '--rows', ROWS[form].join(','), '--shape'];
  const quick = form === 'quick' ? ['--quick'] : [];
  return nativeResults('experts_bench', [...words, sizesOf(shape).join(','), ...quick]);
}

async function peerResults(
  shape: Shape,
  threads: string,
  form: Form,
): Promise<readonly NativeResult[]> {
  const sizes = [SECONDS[form], ...sizesOf(shape)].map(String);
  const words = [PYTHON, PEER, threads, ...sizes, ROWS[form].join(',')];
  const text = await output('env', [...PEER_ENVIRONMENT, ...words]);
  return (JSON.parse(text) as { results: NativeResult[] }).results;
}
