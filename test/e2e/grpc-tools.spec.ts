/** gRPC's own tools by reflection, as the README calls them: nothing of proto/ is given to them. */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { protoDescriptors } from '@tessera/contracts';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEMO } from './random-adapter.js';
import { Service } from './service.js';

const BUF = 'node_modules/.bin/buf';
const GRPCURL = '.cache/grpcurl/grpcurl';
const hasGrpcurl = existsSync(GRPCURL);
if (!hasGrpcurl)
  console.log('grpc-tools.spec: grpcurl is skipped, it is built where Go is present');

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

async function run(command: string, words: readonly string[]): Promise<string> {
  return (await promisify(execFile)(command, words)).stdout;
}

/** Of the README's first request: the words behind `grpcurl`. */
function readmeWords(): string[] {
  const line = /^grpcurl ([\s\S]*?[^\\])$/m.exec(readFileSync('README.md', 'utf8'))?.[1] ?? '';
  const words = line.replaceAll('\\\n', ' ').match(/'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replaceAll("'", ''));
}

it.skipIf(!hasGrpcurl)("the README's grpcurl recalls", async () => {
  const words = readmeWords();
  expect(words).toContain('127.0.0.1:50051');
  const asked = words.map((word) => (word === '127.0.0.1:50051' ? service.grpcAddress : word));
  const { items } = JSON.parse(await run(GRPCURL, asked)) as { items: unknown[] };
  expect(items).toHaveLength(5);
});

it.skipIf(!hasGrpcurl)('grpcurl describes every service', async () => {
  const ask = (...words: string[]) => run(GRPCURL, ['-plaintext', service.grpcAddress, ...words]);
  const services = (await ask('list')).trim().split('\n');
  const files = Object.values(protoDescriptors).map((text) => Buffer.from(text, 'base64'));
  expect(services.length).toBeGreaterThan(5);
  for (const name of services) {
    expect(await ask('describe', name)).toContain(`${name} is a service`);
    const short = name.slice(name.lastIndexOf('.') + 1);
    expect(files.some((file) => file.includes(short))).toBe(true);
  }
  expect(await ask('describe', 'tessera.recall.v1.RecallRequest')).toContain('map<string, string>');
});

it('buf curl recalls without a schema', async () => {
  const url = `http://${service.grpcAddress}/tessera.recall.v1.RecallService/Recall`;
  const body = JSON.stringify({ userId: '1', resultCount: 5 });
  const words = ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', '-d', body, url];
  const { items } = JSON.parse(await run(BUF, words)) as { items: unknown[] };
  expect(items).toHaveLength(5);
});
