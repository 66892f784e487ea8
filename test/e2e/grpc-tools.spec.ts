/** A gRPC tool by reflection: nothing of proto/ is given to it. README's first request is one. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { METHODS } from '@tessera/methods';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEMO } from './random-adapter.js';
import { Service } from './service.js';

const BUF = 'node_modules/.bin/buf';
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

const PLAIN = ['--protocol', 'grpc', '--http2-prior-knowledge'];

async function curl(...words: string[]): Promise<string> {
  return (await promisify(execFile)(BUF, ['curl', ...PLAIN, ...words])).stdout;
}

it('buf curl lists every method', async () => {
  const url = `http://${service.grpcAddress}`;
  const services = (await curl('--list-services', url)).trim().split('\n');
  const methods = (await curl('--list-methods', url)).trim().split('\n');
  const own = METHODS.map(({ path }) => path.slice(1)).filter((path) =>
    path.startsWith('tessera.'),
  );
  expect(own.length).toBeGreaterThan(20);
  const listed = methods.filter((method) => method.startsWith('tessera.'));
  expect(listed.sort()).toEqual(own.sort());
  for (const path of own) expect(services).toContain(path.slice(0, path.indexOf('/')));
});
