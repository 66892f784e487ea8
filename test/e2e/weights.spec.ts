/**
 * Whole weights put in the place of those that serve, against the built service: no request fails,
 * each answer is that of the weights that it names, and rollback restores the earlier answer.
 */

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { DEMO, writeRandomAdapter } from './random-adapter.js';
import { Service } from './service.js';

interface Answer {
  readonly items: readonly { readonly itemId: string; readonly score: number }[];
  readonly versions: { readonly model: string; readonly adapter: string };
  readonly kv: { readonly savedTokens: number };
}
interface Updated {
  readonly name: string;
  readonly digest: string;
  readonly previous: string;
}

const folder = temporaryFolder({});
let sets: string;
let count = 0;
let service: Service;
beforeEach(() => {
  count += 1;
  sets = join(folder.path, `weights-${count}`);
});
afterEach(() => service?.stop());
afterAll(() => folder.remove());

/** The demo model with every n-th weight of the other sign. */
function writeSet(name: string, n: number): void {
  const to = join(sets, name);
  mkdirSync(to, { recursive: true });
  cpSync(join(DEMO, 'config.json'), join(to, 'config.json'));
  const weights = readFileSync(join(DEMO, 'model.safetensors'));
  const data = 8 + Number(weights.readBigUInt64LE(0));
  for (let at = data + 3; at < weights.length; at += 4 * n) {
    weights[at] = (weights[at] as number) ^ 0x80;
  }
  writeFileSync(join(to, 'model.safetensors'), weights);
}

async function start(): Promise<void> {
  service = await Service.start({
    TESSERA_MODEL_PATH: DEMO,
    TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
    TESSERA_ADAPTERS_PATH: join(folder.path, 'adapters'),
    TESSERA_WEIGHTS_PATH: sets,
  });
}

/** `npm run weights -- ...` against the service. */
const command = (...words: string[]) => tool<Updated>('weights', ...words);

async function tool<Result>(name: string, ...words: string[]): Promise<Result> {
  const all = [`dist/tools/${name}.js`, ...words, '--address', service.grpcAddress, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, all);
  return JSON.parse(stdout) as Result;
}

async function recall(userId: string): Promise<Answer> {
  const { status, json } = await service.post({ userId });
  expect(status, JSON.stringify(json)).toBe(200);
  return json as unknown as Answer;
}

const content = ({ items }: Answer) => items.map(({ itemId, score }) => [itemId, score]);

it('under load no request fails and each answer is that of the weights that it names', async () => {
  writeSet('monday', 7);
  writeSet('tuesday', 11);
  await start();
  const users = ['1', '2', '3'];
  const base = await Promise.all(users.map(recall));
  const byModel = new Map<string, readonly Answer[]>([[base[0]?.versions.model ?? '', base]]);
  const seen: { readonly user: number; readonly answer: Answer }[] = [];
  let isOver = false;
  const load = users.map(async (user, index) => {
    while (!isOver) seen.push({ user: index, answer: await recall(user) });
  });
  for (const name of ['monday', 'tuesday', 'monday']) {
    const { digest } = await command('update', name);
    const answers = await Promise.all(users.map(recall));
    for (const answer of answers) expect(answer.versions.model).toBe(digest);
    byModel.set(digest, answers);
  }
  isOver = true;
  await Promise.all(load);
  expect(byModel.size).toBe(3);
  for (const { user, answer } of seen) {
    const expected = byModel.get(answer.versions.model)?.[user];
    expect(expected && content(expected)).toEqual(content(answer));
  }
  const contents = [...byModel.values()].map((answers) => JSON.stringify(answers.map(content)));
  expect(new Set(contents).size).toBe(3);
});

it('outlive a restart, and rollback restores the earlier answer exactly', async () => {
  writeSet('monday', 7);
  await start();
  const { digest } = await command('update', 'monday');
  const updated = await recall('1');
  await service.stop();
  await start();
  const again = await recall('1');
  expect(again.versions.model).toBe(digest);
  expect(content(again)).toEqual(content(updated));
  expect(await command('show')).toMatchObject({ name: 'monday', digest, previous: '' });
  await command('rollback');
  const back = await recall('1');
  expect(back.versions.model).not.toBe(digest);
  expect(content(back)).not.toEqual(content(updated));
  await expect(command('update', 'none')).rejects.toThrow(/MODEL_NOT_FOUND|none/);
  expect(content(await recall('1'))).toEqual(content(back));
});

it('end the adapters of those before, and frequent users find their prompts computed', async () => {
  writeSet('monday', 7);
  await start();
  const base = (await recall('1')).versions.model;
  const peft = writeRandomAdapter(join(folder.path, 'peft'), { seed: 57, size: 0.4 });
  const push = ['push', peft, '--base', base] as const;
  const { version } = await tool<{ version: { digest: string } }>('adapter', ...push);
  await tool('adapter', 'activate', version.digest, '--force');
  expect((await recall('1')).versions.adapter).toBe(version.digest);
  await expect(command('update', 'monday')).rejects.toThrow(/ADAPTER_STATE.*--end-adapters/s);
  const { digest } = await command('update', 'monday', '--end-adapters');
  await service.metricBecomes('tessera_weights_warmed_users_total{outcome="computed"}', 1);
  const first = await recall('1');
  expect(first.versions).toMatchObject({ model: digest, adapter: '' });
  expect(first.kv.savedTokens).toBeGreaterThan(0);
});
