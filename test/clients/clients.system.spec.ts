/**
 * The packages of clients/ as their users have them, each built by its own tool and run against the
 * built service: `npm run test:clients`. A language without its tool is skipped, with a message.
 */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type KafkaBroker,
  S3_CREDENTIALS,
  type S3Server,
  startKafkaBroker,
  startS3Server,
  temporaryFolder,
} from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEMO, writeRandomAdapter } from '../e2e/random-adapter.js';
import { Service } from '../e2e/service.js';
import { FollowedTopic } from './follow-topic.js';
import { BUILD_MS, generateGo, printedIds, run as runIn, skipWithout } from './run-tools.js';

const EXAMPLE_ITEMS = 3;
const BUCKET = 'trained';

const folder = temporaryFolder({});
let broker: KafkaBroker;
let store: S3Server;
let service: Service;
let expected: string[] = [];
let environment: NodeJS.ProcessEnv = {};

const run = (cwd: string, command: string, words: readonly string[]) =>
  runIn(cwd, command, words, environment);

/** An example against an address where nothing listens: its words come in the message. */
async function failsAloud(cwd: string, command: string, words: readonly string[]) {
  await expect(run(cwd, command, words)).rejects.toThrow(/fallback: no answer/);
}

const NOWHERE = '127.0.0.1:9';

beforeAll(async () => {
  const own = (name: string) => join(folder.path, name);
  broker = await startKafkaBroker();
  store = await startS3Server(BUCKET);
  const variables = {
    TESSERA_MODEL_PATH: DEMO,
    TESSERA_EMBEDDING_MODELS: `mean=${resolve('test/fixtures/encoders/bert-mean')}`,
    TESSERA_RELEVANCE_PATH: resolve('test/fixtures/relevance'),
    TESSERA_RELEVANCE_ADAPTERS: `fits=${resolve('test/fixtures/relevance/adapter')}`,
    TESSERA_CATALOGUE_CACHE_PATH: own('cache'),
    TESSERA_CATALOGUE_CHANGES_PATH: own('changes'),
    TESSERA_BEHAVIOURS_STORE: 'embedded',
    TESSERA_BEHAVIOURS_PATH: own('behaviours'),
    TESSERA_ADAPTERS_PATH: own('adapters'),
    TESSERA_ADAPTERS_S3_BUCKETS: BUCKET,
    AWS_ENDPOINT_URL: store.url,
    TESSERA_ADAPTERS_S3_ADDRESSING: 'path',
    ...S3_CREDENTIALS,
  };
  service = await Service.start(variables, ['--kafka', broker.address]);
  await service.topicsServed();
  const { json } = await service.post({ userId: '1', resultCount: EXAMPLE_ITEMS });
  expected = (json.items as { itemId: string }[]).map(({ itemId }) => itemId);
  environment = {
    ...process.env,
    TESSERA_ADDRESS: service.grpcAddress,
    TESSERA_ADAPTER: writeRandomAdapter(own('adapter'), { seed: 1, size: 0.4 }),
    TESSERA_KAFKA: broker.address,
    TESSERA_S3_BUCKET: BUCKET,
    TESSERA_S3_ENDPOINT: store.url,
    ...S3_CREDENTIALS,
  };
});

afterAll(async () => {
  await service?.stop();
  await store?.stop();
  await broker?.stop();
  folder.remove();
});

describe.skipIf(skipWithout('python3'))('the package for Python', () => {
  const packaged = 'clients/python';
  const python = join(folder.path, 'venv', 'bin', 'python');

  it('installs, passes its tests and runs its example', { timeout: BUILD_MS }, async () => {
    await run('.', 'python3', ['-m', 'venv', join(folder.path, 'venv')]);
    await run(packaged, python, ['-m', 'pip', 'install', '--quiet', '.[s3,test]']);
    expect(await run(packaged, python, ['-m', 'pytest', '-q', 'tests'])).not.toContain('skipped');
    const printed = await run(packaged, python, ['examples/recall.py', service.grpcAddress, '1']);
    expect(printedIds(printed)).toEqual(expected);
    await failsAloud(packaged, python, ['examples/recall.py', NOWHERE]);
  });

  it("is all that the trainer's push needs", { timeout: BUILD_MS }, async () => {
    await expect(run('.', python, ['-c', 'import torch'])).rejects.toThrow('ModuleNotFoundError');
    const { TESSERA_ADAPTER: adapter = '' } = environment;
    const push = ['-m', 'trainer', 'push', adapter, '--address', service.grpcAddress];
    const printed = await run('.', python, [...push, '--share', '1', '--force']);
    expect(printed).toMatch(/^valid: main [0-9a-f]{64}\n[\s\S]*activated for 100% of the users/);
    const { json } = await service.post({ userId: '1' });
    const { versions } = json as { versions: { adapter: string } };
    expect(printed).toContain(versions.adapter);
    const back = ['-m', 'tessera_client', 'roll-back', '--address', service.grpcAddress];
    expect(await run('.', python, back)).toContain(`rolled back: main ${versions.adapter}`);
    // Nor do the rounds of a trainer that follows need more than arrays.
    const numpy = /^numpy==.*$/m.exec(readFileSync('trainer/requirements.txt', 'utf8'))?.[0] ?? '';
    await run('.', python, ['-m', 'pip', 'install', '--quiet', numpy]);
    const rounds = ['-m', 'pytest', '-q', 'trainer/tests/test_follow.py', '-k', 'fifty and 0'];
    expect(await run('.', python, rounds)).toContain('1 passed');
    const train = run('.', python, ['-m', 'trainer', 'demo']);
    await expect(train).rejects.toThrow('expected what trainer/requirements.txt installs');
  });

  it('reads the behaviours of a topic once for a trainer that is killed', async () => {
    const topic = await FollowedTopic.on(broker.address);
    const read = (...killed: string[]) => topic.read(python, join(folder.path, 'followed'), killed);
    const items = (count: number) => Array.from({ length: count }, (_, at) => String(at));
    const sum = (reads: readonly number[]) => reads.reduce((all, one) => all + one, 0);
    const numbered = (found: readonly string[]) => [...found].sort((a, b) => +a - +b);

    await topic.write(25);
    expect(read('before', '2')).toMatchObject({ signal: 'SIGKILL', reads: [10, 10] });
    const behind = read();
    expect(behind.reads).toEqual([10, 5]);
    expect(numbered(behind.items)).toEqual(items(25));
    await topic.write(12);
    expect(read('after', '1')).toMatchObject({ signal: 'SIGKILL', reads: [10] });
    const again = read();
    expect(again.reads).toEqual([2]);
    expect(numbered(again.items)).toEqual(items(37));
    await topic.writeTogether(5);
    const together = read();
    expect(sum(together.reads)).toBe(5);
    expect(numbered(together.items)).toEqual(items(42));
    expect(read().reads).toEqual([0]);
  });
});

describe.skipIf(skipWithout('go', 'version'))('the module for Go', () => {
  const packaged = 'clients/go';

  it('passes its tests and runs its example', { timeout: BUILD_MS }, async () => {
    await generateGo();
    await run(packaged, 'go', ['vet', './...']);
    const tested = await run(packaged, 'go', ['test', '-count=1', '-v', './tessera']);
    expect(tested).not.toContain('--- SKIP');
    const words = ['run', './examples/recall', service.grpcAddress, '1'];
    expect(printedIds(await run(packaged, 'go', words))).toEqual(expected);
    await failsAloud(packaged, 'go', ['run', './examples/recall', NOWHERE]);
  });
});

describe.skipIf(skipWithout('mvn'))('the artifact for Java', () => {
  const packaged = 'clients/java';

  it('passes its tests and runs its example', { timeout: BUILD_MS }, async () => {
    const tested = await run(packaged, 'mvn', ['-B', 'test']);
    expect(tested).toMatch(/Tests run: \d+, Failures: 0, Errors: 0, Skipped: 0/);
    const words = ['-B', '-q', 'exec:java', `-Dexec.args=${service.grpcAddress} 1`];
    expect(printedIds(await run(packaged, 'mvn', words))).toEqual(expected);
    await failsAloud(packaged, 'mvn', ['-B', '-q', 'exec:java', `-Dexec.args=${NOWHERE}`]);
  });
});
