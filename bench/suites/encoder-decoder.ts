import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PLAIN, TesseraClient } from '@tessera/client';
import { repositoryRoot } from '@tessera/config';
import { PeerProcess } from '../peers/peer-process.js';
import { type Measurement, quantile } from '../result.js';
import { ServedProcess } from './overload/served-process.js';
import type { SuiteContext } from './suite.js';

const PEER = join(repositoryRoot, 'bench', 'peers', 'tiger_peer.py');
const FOLDERS = join(repositoryRoot, '.cache', 'bench', 'encoder-decoder');
const WIDTH = 50;
/** Items of the history, of four codes each. */
const HISTORY_ITEMS = 25;
const CALL_MS = 60_000;
const AGREEMENT = 2e-3;

interface Setting {
  readonly items: number;
  readonly kind: 'generate' | 'compared';
  readonly rounds: number;
  readonly bar: number;
}

const SETTINGS: readonly Setting[] = [
  { items: 12_000, kind: 'generate', rounds: 15, bar: 10 },
  { items: 12_000, kind: 'compared', rounds: 7, bar: 50 },
  { items: 1_000_000, kind: 'generate', rounds: 7, bar: 10 },
  { items: 1_000_000, kind: 'compared', rounds: 1, bar: 50 },
];

/**
 * Recalls of an encoder and a decoder, 11.4 M parameters, 100 codes of history, beams of 50,
 * through the service, by turns with PyTorch on the same weights, items and threads.
 */
export async function encoderDecoderSuite({
  quick,
  flags,
  say,
}: SuiteContext): Promise<Measurement[]> {
  const python = flags.text('python') ?? '.venv/bin/python';
  const results: Measurement[] = [];
  for (const setting of SETTINGS) {
    if (quick && setting.items > 12_000) continue;
    say(`${setting.kind}, ${setting.items} items`);
    results.push(...(await beside(setting, python)));
  }
  return results;
}

async function beside(
  { items, kind, rounds, bar }: Setting,
  python: string,
): Promise<Measurement[]> {
  const folder = join(FOLDERS, String(items));
  if (!existsSync(join(folder, 'prompt.json'))) {
    execFileSync(python, [PEER, 'make', folder, String(items)], { stdio: 'ignore' });
  }
  const service = await ServedProcess.start({
    model: { path: folder, computeType: 'f32' },
    engine: { threadCount: 2 },
  });
  const peer = await PeerProcess.start(kind, python, [PEER, 'ask', folder, '2', kind]);
  const client = new TesseraClient(service.grpcAddress, { connection: PLAIN });
  const times: Record<'own' | 'peer', number[]> = { own: [], peer: [] };
  let agreed = 0;
  try {
    for (let round = 0; round < rounds; round += 1) {
      const history = Array.from(
        { length: HISTORY_ITEMS },
        (_, at) => ((round + 1) * 7919 + at * 104_729) % items,
      );
      const began = performance.now();
      const shown = { itemIds: history.map(String) };
      const request = { history: shown, widths: [WIDTH], resultCount: WIDTH };
      const { items: found } = await client.recall(request, CALL_MS);
      times.own.push(performance.now() - began);
      const asked = { history, width: WIDTH };
      const answer = await peer.exchange<{ ms: number; scores: number[] }>(asked);
      times.peer.push(answer.ms);
      const near = found.every(
        ({ score }, at) => Math.abs(score - (answer.scores[at] ?? 0)) < AGREEMENT,
      );
      agreed += near ? 1 : 0;
    }
  } finally {
    client.close();
    await peer.close();
    await service.stop();
  }
  const own = quantile(times.own, 0.5);
  const theirs = quantile(times.peer, 0.5);
  const name = `${kind}, ${items} items`;
  return [
    {
      name: `${name}: a recall, median`,
      value: own,
      unit: 'ms',
      ratio: { value: theirs / own, to: `the peer over it (${theirs.toFixed(0)} ms)` },
      bar,
      bound: 'at-least',
    },
    {
      name: `${name}: answers with the peer's scores`,
      value: agreed,
      unit: `of ${rounds}`,
      bar: rounds,
    },
  ];
}
