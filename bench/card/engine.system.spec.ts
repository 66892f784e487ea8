/** Steps of a card that go through the engine, on a processor with a tiny model. */

import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { randomCatalogue } from '../models/random-catalogue.js';
import { randomModel } from '../models/random-model.js';
import { PYTHON } from '../peers/peer-kinds.js';
import { TINY_CARD } from './card-models.js';
import { recallKinds } from './kinds.js';
import { parity } from './parity.js';
import { returningOnCard } from './returning.js';
import { wholeRecalls } from './whole.js';

const ITEMS = 2000;
const say = () => undefined;
const device = 'cpu';

const folders = async () => ({
  shape: TINY_CARD,
  modelPath: randomModel(TINY_CARD, say),
  random: await randomCatalogue(ITEMS, say),
});

it('finds the answers of a device that are the same', async () => {
  const lines = await wholeRecalls({ shape: TINY_CARD, device, prompts: 3, say });
  const [distance, answers] = lines;
  expect(distance?.value).toBe(0);
  expect(answers?.value).toBeGreaterThan(0);
});

it('times every kind of recall', async () => {
  const lines = await recallKinds(await folders(), { device, contexts: [40], rounds: 2 });
  const names = lines.map(({ name }) => name.replace('tiny-card/context 40/', ''));
  expect(names).toEqual([
    ...['kinds/beam', 'kinds/certified 50', 'kinds/beam with an adapter', 'kinds/200 items'],
    ...['kinds/200 items ranked', 'kinds/certified 50, proven'],
    ...['passes/prefill', 'passes/decode', 'passes/head', 'passes/select', 'passes/export'],
  ]);
});

it('finds the keys and values of a user who comes back wherever they lie', async () => {
  const setting = { device, histories: [96], users: 2, say };
  const lines = await returningOnCard(await folders(), setting);
  expect(lines.map(({ name }) => name.replace('returning/tiny-card/context 96/', ''))).toEqual([
    ...['computed', 'found on the card', 'found on the host', 'found on disk'],
  ]);
  expect(lines[1]?.operations).toBeLessThan(lines[0]?.operations ?? 0);
  expect(lines.map(({ linkBytes }) => linkBytes > 0)).toEqual([false, false, true, false]);
});

it.skipIf(!existsSync(PYTHON))('compares with transformers', async () => {
  const setting = { shape: TINY_CARD, device, prompts: 2, items: ITEMS, threads: 2, say };
  const [own, peer] = await parity({ ...setting, python: PYTHON });
  expect(own?.value).toBeGreaterThan(0);
  expect(peer?.value).toBeGreaterThan(0);
});
