/** The messages of a start that cannot succeed, and the reuse of a second start. */

import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder, until } from '../../libs/testing/src/index.js';
import { SMALL, writeRandomModel } from './random-model.js';
import { Service } from './service.js';

const folder = temporaryFolder({
  'cut/catalogue.jsonl': '{"item_id": "1", "sid": [0, 1, 2]}\n{"item_id": "2", "sid": [0,',
  'table.csv': 'item_id,sid\na,1\n',
  'twice/catalogue.jsonl': '{"item_id": "1", "sid": [0]}\n{"item_id": "1", "sid": [1]}\n',
});
const model = join(folder.path, 'model');
const variables = {
  TESSERA_MODEL_PATH: model,
  TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
};

beforeAll(() => {
  writeRandomModel(model, SMALL);
});

afterAll(() => folder.remove());

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const failing: [string, Record<string, string>, RegExp][] = [
  ['a key out of its bounds', { TESSERA_HTTP_PORT: '70000' }, /CONFIG_INVALID[\s\S]*http\.port/],
  ['an unknown variable', { TESSERA_HTP_PORT: '1' }, /CONFIG_INVALID[\s\S]*TESSERA_HTP_PORT/],
  [
    'a model folder that is not there',
    { TESSERA_MODEL_PATH: '/nowhere' },
    /^MODEL_NOT_FOUND \(model\.path\): \/nowhere: expected a model folder, got nothing/m,
  ],
  [
    'a card where none can be used',
    { TESSERA_ENGINE_DEVICE: 'cuda:0', TESSERA_MODEL_COMPUTE_TYPE: 'bf16' },
    /ENGINE_UNAVAILABLE[\s\S]*device: (no NVIDIA driver|built without kernels for a card)/,
  ],
  [
    'a device that there is not',
    { TESSERA_ENGINE_DEVICE: 'gpu' },
    /^CONFIG_INVALID \(engine\.device\): .*_ENGINE_DEVICE\): expected cpu or cuda:0/m,
  ],
  [
    'a catalogue that is not there',
    { TESSERA_CATALOGUE_PATH: join(folder.path, 'none.jsonl') },
    /CATALOGUE_NOT_FOUND.*none\.jsonl: expected a file of items \(catalogue\.path;/,
  ],
  [
    'a catalogue that is cut',
    { TESSERA_CATALOGUE_PATH: join(folder.path, 'cut/catalogue.jsonl') },
    /CATALOGUE_INVALID[\s\S]*cut/,
  ],
  [
    'a catalogue in another format',
    { TESSERA_CATALOGUE_PATH: join(folder.path, 'table.csv') },
    /CATALOGUE_INVALID.*table\.csv: expected .*JSON lines \(docs\/start\/input-files\.md\)/,
  ],
  [
    'an item that is there twice',
    { TESSERA_CATALOGUE_PATH: join(folder.path, 'twice/catalogue.jsonl') },
    /CATALOGUE_INVALID[\s\S]*'?1'?/,
  ],
  [
    'users that are not there',
    { TESSERA_USERS_PATH: join(folder.path, 'none.json') },
    /BEHAVIOUR_INVALID[\s\S]*none\.json/,
  ],
];

it.each(failing)('%s ends the start with a typed message', async (_name, wrong, message) => {
  const { status, stderr } = await Service.launch({ ...variables, ...wrong }).ended;
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('    at ');
  expect(status).toBe(1);
});

it('a port that is taken ends the start and names the address', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  for (const variable of ['TESSERA_HTTP_PORT', 'TESSERA_GRPC_PORT']) {
    const launched = Service.launch({ ...variables, [variable]: String(port) });
    const { status, stderr } = await launched.ended;
    expect(status).toBe(1);
    expect(stderr).toMatch(new RegExp(`CONFIG_INVALID .*127\\.0\\.0\\.1:${port}`));
  }
  taken.close();
});

it.each([
  [
    ['--prot', '1'],
    '--prot: expected one of --config, --print-config, --json-log, --kafka, --redis,',
  ],
  [['--kafka'], '--kafka: expected a value, got nothing'],
])('the flags %j end the start, which says why before anything else', async (words, reason) => {
  const { status, stderr } = await Service.launch(variables, words).ended;
  expect(status).toBe(2);
  expect(stderr.startsWith(reason)).toBe(true);
});

it('an example says which flag it does not have', () => {
  const words = ['dist/examples/ad-server.js', '--grpc', '127.0.0.1:1'];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, "Unknown option '--grpc'\n--help: all of them\n"]);
});

it('an example fails where no service answers', () => {
  const words = ['dist/examples/ad-server.js', '--address', '127.0.0.1:9', '--deadline-ms', '300'];
  const { status, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, expect.stringMatching(/^1 {2}[A-Z_]+ {2}/)]);
});

it('--help of a command builds nothing', () => {
  const words = ['tools/run.mjs', 'tools/cluster', '--help'];
  // Without a compiler, npm or a shell: a step of the set-up could not but fail.
  const env = { PATH: '/nowhere' };
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^usage: npm run cluster/);
});

it('--print-config prints and ends', async () => {
  const launched = Service.launch({ ...variables, TESSERA_LOG_LEVEL: 'warn' }, ['--print-config']);
  const { status, stdout } = await launched.ended;
  expect(status).toBe(0);
  expect(stdout).toContain('TESSERA_LOG_LEVEL=warn  # log.level, environment');
});

describe('--json-log', () => {
  const linesOf = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('leaves events with named levels on the standard output, and nothing else', async () => {
    const printed = /sample recall/;
    const flags = ['--json-log', '--world'];
    const service = await Service.start({ ...variables }, flags, { printed });
    const served = JSON.parse(/^.*"msg":"serving".*$/m.exec(service.stdout)?.[0] ?? '{}');
    service.httpUrl = new URL(served.HTTP).origin;
    // Simulated users ask; they end with the service, which they neither hold nor fail.
    await until(
      'a recall',
      async () => (await service.metric('tessera_recall_requests_total')) > 0,
    );
    const { pid: world } = JSON.parse(/^.*a world begins.*$/m.exec(service.stdout)?.[0] ?? '{}');
    await service.stop();
    await until('the end of the world', () => !isRunning(world));
    const { stdout, stderr } = await service.ended;
    const lines = linesOf(stdout);
    expect(stderr).toBe('');
    expect(new Set(lines.map(({ level }) => level))).toContain('info');
    expect(lines.filter(({ level }) => typeof level !== 'string')).toEqual([]);
    const serving = lines.find(({ msg }) => msg === 'serving');
    expect(serving).toMatchObject({ HTTP: expect.stringMatching(/^http:.*recall$/) });
  });

  it('makes the end of a start one of them', async () => {
    const wrong = { ...variables, TESSERA_MODEL_PATH: '/nowhere' };
    const { status, stdout, stderr } = await Service.launch(wrong, ['--json-log']).ended;
    expect([status, stderr]).toEqual([1, '']);
    expect(linesOf(stdout).at(-1)).toMatchObject({
      level: 'fatal',
      code: 'MODEL_NOT_FOUND',
      field: 'model.path',
    });
  });
});

it('the feature process and the service agree on the folder of behaviours', async () => {
  const folders = async (main: string, named: Record<string, string>) => {
    const unnamed = { TESSERA_BEHAVIOURS_STORE: 'embedded', TESSERA_BEHAVIOURS_PATH: undefined };
    const launched = Service.launch({ ...unnamed, ...named }, ['--print-config'], main);
    const { stdout } = await launched.ended;
    return stdout.split('\n').filter((row) => /^TESSERA_BEHAVIOURS_\w*PATH=/.test(row));
  };
  const found: string[][] = [];
  for (const named of [{}, { TESSERA_MODEL_PATH: model }]) {
    const [feature = [], service] = await Promise.all(
      ['feature', 'standalone'].map((app) => folders(`dist/apps/${app}/src/main.js`, named)),
    );
    expect(feature).toEqual(service);
    found.push(feature);
  }
  const paths = found.map(([first]) => /=.*\/(data\/\S+)/.exec(first ?? '')?.[1]);
  expect(paths).toEqual(['data/demo/behaviours', 'data/behaviours']);
});

it('a second start opens the snapshot that the first one built', async () => {
  const cache = join(folder.path, 'second');
  const first = await Service.start({ ...variables, TESSERA_CATALOGUE_CACHE_PATH: cache });
  await first.stop();
  const second = await Service.start({ ...variables, TESSERA_CATALOGUE_CACHE_PATH: cache });
  const digest = async (service: Service) => (await service.post({ userId: '1' })).json.versions;
  expect(await digest(second)).toMatchObject({ catalogue: expect.any(String) });
  await second.stop();
  expect(first.stdout).not.toBe('');
  expect(first.stdout.match(/SID[\s\S]*/)?.[0]).toBe(second.stdout.match(/SID[\s\S]*/)?.[0]);
});

it('a second signal ends a stop that takes long', async () => {
  const service = await Service.start(variables);
  service.child.kill('SIGTERM');
  service.child.kill('SIGINT');
  const { status } = await service.ended;
  expect([0, 1]).toContain(status);
});
