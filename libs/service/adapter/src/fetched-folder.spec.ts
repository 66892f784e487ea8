import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { fakePush, temporaryFolder } from '@tessera/testing';
import { afterAll, expect, it } from 'vitest';
import { fetchedParts } from './index.js';

const push = fakePush('main', 'weights');
const [config = Buffer.of(), weights = Buffer.of()] = push.contents;
const folder = temporaryFolder({
  'root/good/adapter_config.json': config,
  'root/good/adapter_model.safetensors': weights,
  'root/half/adapter_config.json': config,
  'outside/adapter_config.json': config,
  'outside/adapter_model.safetensors': weights,
});
afterAll(() => folder.remove());
const root = join(folder.path, 'root');
symlinkSync(join(folder.path, 'outside'), join(root, 'link'));
mkdirSync(join(root, 'linked'));
symlinkSync(join(root, 'good/adapter_config.json'), join(root, 'linked/adapter_config.json'));
symlinkSync(
  join(folder.path, 'outside/adapter_model.safetensors'),
  join(root, 'linked/adapter_model.safetensors'),
);
mkdirSync(join(root, 'waiting'));
for (const name of ['adapter_config.json', 'adapter_model.safetensors']) {
  execFileSync('mkfifo', [join(root, 'waiting', name)]);
}

const announced = (location: string, sha256 = {}) => ({
  name: 'main',
  baseModel: 'fake-model',
  location,
  sha256,
});

it('is a push of what lies in the folder', async () => {
  const parts = [];
  for await (const part of fetchedParts(root, announced('good'))) parts.push(part);
  const data = parts.flatMap((part) => ('data' in part ? [part.data] : []));
  expect(parts[0]).toMatchObject({ header: { ...push.header, remark: 'announced at good' } });
  expect(Buffer.concat(data)).toEqual(Buffer.concat([config, weights]));
  expect(parts.at(-1)).toEqual({ isEnd: true });
});

it.each([
  ['a path upwards', announced('../outside'), 'ADAPTER_INVALID location'],
  ['a path down and upwards', announced('good/../../outside'), 'ADAPTER_INVALID location'],
  ['a link that leads out', announced('link'), 'ADAPTER_INVALID location'],
  ['the root itself', announced('.'), 'ADAPTER_INVALID location'],
  ['an absolute path', announced('/etc'), 'ADAPTER_INVALID location'],
  ['nothing', announced(''), 'ADAPTER_INVALID location'],
  ['a folder that is not there', announced('gone'), 'ADAPTER_NOT_FOUND location'],
  [
    'a folder of links, though they lead to files below it',
    announced('linked'),
    'ADAPTER_INVALID ',
  ],
  ['a folder of FIFOs that nobody writes to', announced('waiting'), 'ADAPTER_INVALID '],
  ['a folder with half of the files', announced('half'), 'ADAPTER_NOT_FOUND '],
  [
    'other content than announced',
    announced('good', { 'adapter_config.json': 'a'.repeat(64) }),
    'ADAPTER_CORRUPT sha256.adapter_config.json',
  ],
])('refuses %s', async (_, location, expected) => {
  const all = fetchedParts(root, location);
  const error = await all.next().then(
    () => undefined,
    (thrown: unknown) => TesseraError.from(thrown),
  );
  expect(`${error?.code} ${error?.field ?? ''}`).toBe(expected);
});
