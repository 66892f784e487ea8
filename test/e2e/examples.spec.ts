/** The first recall of docs/index.md, as a reader runs it; test/clients has the other languages. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEMO } from './random-adapter.js';
import { Service } from './service.js';

const folder = temporaryFolder({});
let service: Service;

beforeAll(async () => {
  const cache = join(folder.path, 'cache');
  service = await Service.start({ TESSERA_MODEL_PATH: DEMO, TESSERA_CATALOGUE_CACHE_PATH: cache });
});
afterAll(async () => {
  await service?.stop();
  folder.remove();
});

const run = async (command: string, ...words: string[]) =>
  (await promisify(execFile)(command, words)).stdout;

/** Items of the first recall of examples/curl.sh, which asks for a history as well. */
async function itemsOverHttp() {
  const answers = (await run('sh', 'examples/curl.sh', service.httpUrl)).trim().split('\n');
  expect(answers).toHaveLength(2);
  const [ofUser] = answers.map((line) => JSON.parse(line) as { items: { itemId: string }[] });
  return ofUser?.items.map(({ itemId }) => itemId);
}

it('curl and TypeScript recall the same items', async () => {
  const printed = await run(process.execPath, 'dist/examples/recall.js', service.grpcAddress, '1');
  const items = printed.trim().split('\n');
  expect(items).toHaveLength(3);
  expect(items.map((line) => line.split('\t')[0])).toEqual(await itemsOverHttp());
});

it('the page shows a region of each file', () => {
  const shown = [...readFileSync('docs/index.md', 'utf8').matchAll(/^<<< \.\.\/(\S+)#(\w+)\{/gm)];
  expect(shown).toHaveLength(5);
  for (const [, path = '', region] of shown) {
    const text = readFileSync(path, 'utf8');
    expect(text.match(new RegExp(`^\\s*(//|#) #?region ${region}$`, 'm'))).not.toBeNull();
    expect(text.match(new RegExp(`^\\s*(//|#) #?endregion ${region}$`, 'm'))).not.toBeNull();
  }
});
