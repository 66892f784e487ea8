/** The command on a processor: every step of `serve`, kept, and gone on with. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, expect, it } from 'vitest';

const RUN_MS = 600_000;
const STEPS = ['recalls', 'adapter', 'weights', 'erasure', 'kill', 'load'];

const folder = temporaryFolder({});
afterAll(() => folder.remove());
const out = join(folder.path, 'card.json');

const serve = () => {
  const words = ['dist/bench/card/main.js', 'serve', '--device', 'cpu', '--out', out];
  return spawnSync(process.execPath, words, { encoding: 'utf8' });
};

it(
  'passes every step against a service on the processor, once',
  () => {
    const { status, stdout, stderr } = serve();
    expect(status, stderr).toBe(0);
    const { steps, rows } = JSON.parse(readFileSync(out, 'utf8')) as {
      readonly steps: Readonly<Record<string, { readonly outcome: string }>>;
      readonly rows: readonly { readonly name: string }[];
    };
    expect(Object.entries(steps).map(([name, { outcome }]) => [name, outcome])).toEqual(
      STEPS.map((name) => [`serve/${name}`, 'passed']),
    );
    expect(rows.length).toBeGreaterThanOrEqual(STEPS.length);
    expect(stdout).toMatch(/serve\/kill +passed/);
    const again = serve();
    expect([again.status, again.stderr]).toEqual([0, '']);
    expect(again.stdout).toBe(stdout);
  },
  RUN_MS,
);
