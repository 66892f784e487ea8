/**
 * Every command line of the pages, in one of four ways: run to its end as a reader runs it, with a
 * small input in the place of theirs; parsed by the program itself, which must know all flags,
 * where it serves for ever or needs other machines; run by another test, which is named; or not
 * run, for a reason. The first three are at least nine tenths.
 */

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@tessera/testing';
import pMap from 'p-map';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DocumentedLine, documentedLines } from './documented-commands.js';
import { writeRandomAdapter } from './random-adapter.js';
import { Service } from './service.js';

const CHECKED_MIN = 0.9;
const COMMAND_MS = 120_000;
const UNKNOWN = '--no-such-flag';
const DEMO = resolve('models/demo');
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
};

/** Stores of a command: of the service, of one that is stopped, or none that another opens. */
type Stores = 'served' | 'stopped' | 'idle';
type Way =
  | { readonly run: Stores; readonly exit?: number; readonly put?: Put }
  | { readonly parsed: 'flags' | 'configuration' | 'trainer' }
  | { readonly elsewhere: string; readonly as: RegExp }
  | { readonly notRun: string };
/** Texts of the page, and those that stand for them here. */
type Put = readonly (readonly [string, string])[];

const TEXTS = ['FILE.json', 'texts.json'] as const;
/** A bundle that was exported has no changes to import. */
const BUNDLE = 'export first && npm run catalogue -- import first';
const CHANGES_THE_SYSTEM = 'changes the system, as root';
/** The first that fits a line holds. */
const WAYS: readonly (readonly [RegExp, Way])[] = [
  [/^npm test$/, { notRun: 'runs this test' }],
  [/^npm run (bootstrap -- --test|test:ts|check)\b/, { notRun: 'sets up tests, or runs them' }],
  [/^npm run build && python/, { parsed: 'trainer' }],
  [/pip install/, { notRun: 'installs a package of others' }],
  [/^(skopeo|docker) /, { notRun: 'needs a registry or a daemon' }],
  [/^sudo |\| sudo |&& sudo /, { notRun: CHANGES_THE_SYSTEM }],
  [/^journalctl /, { notRun: 'needs systemd' }],
  [/^npm install |^npx tessera$/, { elsewhere: 'tools/pack.mjs', as: /words = \['install/ }],
  [/^npx tessera doctor /, { elsewhere: 'tools/doctor/examine.spec.ts', as: /examine\(/ }],
  [/^python -m trainer /, { parsed: 'trainer' }],
  [/npm (start|run feature)\b/, { parsed: 'configuration' }],
  [/--help$/, { run: 'idle' }],
  [/^npm run -s catalogue -- upsert .*"text"/, { run: 'served', exit: 1 }],
  [/catalogue -- import/, { run: 'served', exit: 1, put: [['import /bundles/v8', BUNDLE]] }],
  [/catalogue -- export/, { run: 'served', put: [['/bundles/now', 'bundle']] }],
  [/adapter -- list /, { parsed: 'flags' }],
  [
    /adapter -- push/,
    {
      run: 'served',
      put: [
        ['FOLDER', 'adapter'],
        ['models/demo/ranking', join(DEMO, 'ranking')],
      ],
    },
  ],
  [/weights -- update/, { run: 'served', put: [['NAME', 'other']] }],
  [/npm run (-s )?(catalogue|adapter|weights) /, { run: 'served' }],
  [/npm run backup/, { run: 'served', put: [['DIR', 'copies']] }],
  [/npm run (restore|repair)/, { run: 'stopped', put: [['DIR', 'copies']] }],
  [/^npm run -s recall/, { run: 'idle' }],
  [
    /^npm run -s simulate -- --nodes/,
    { run: 'idle', put: [['1800 --warm-up 600', '100 --warm-up 50']] },
  ],
  [/^npm run -s simulate -- --trace/, { run: 'idle' }],
  [/^npm run -s embed -- --model models/, { run: 'idle' }],
  [/^npm run -s relevance/, { run: 'idle', put: [['DIR', 'models/judge'], TEXTS] }],
  [
    /^npm run (-s embed|doctor -- --calibrate) .*--texts/,
    { run: 'idle', put: [['DIR', 'models/encoder'], TEXTS] },
  ],
  [
    /^npm run (-s evaluate|doctor -- --calibrate) /,
    {
      run: 'idle',
      put: [
        ['DIR', DEMO],
        ['FILE', 'users.json'],
      ],
    },
  ],
  [
    /^npm run -s tune -- --plan/,
    {
      run: 'idle',
      put: [
        ['DIR', DEMO],
        ['--qps', '--seconds 1 --qps'],
      ],
    },
  ],
  [/^npm run -s soak/, { run: 'idle', put: [['600', '1']] }],
  [/^npm run /, { parsed: 'flags' }],
  [/^curl .*v1\/(sid|catalogue\/apply)/, { run: 'served', exit: 22 }],
  [/./, { run: 'served' }],
];

const texts = Array.from({ length: 80 }, (_, i) => `text ${i} of oil and ${i * i} shoes`);
const users = Object.entries(JSON.parse(readFileSync(join(DEMO, 'users.json'), 'utf8')));
const folder = temporaryFolder({
  'changes.jsonl': '{"op": "pause", "item_id": "12"}\n{"op": "pause", "item_id": "13"}\n',
  'ads.jsonl': '{"op": "upsert", "item_id": "new-ad", "sid": [3, 1, 4]}\n',
  'conversation_trace.jsonl': Array.from(
    { length: 20 },
    (_, i) =>
      `{"timestamp": ${i * 500}, "input_length": 999, "output_length": 9, "hash_ids": [0, ${i}]}\n`,
  ).join(''),
  'texts.json': texts,
  'users.json': Object.fromEntries(users.slice(0, 6)),
  'data/mine/texts.json': texts,
  'data/mine/service.json': '{}',
});
const at = (name: string) => join(folder.path, name);
const stores = (where: Stores) => ({
  TESSERA_MODEL_PATH: DEMO,
  TESSERA_CATALOGUE_CACHE_PATH: at('cache'),
  TESSERA_CATALOGUE_CHANGES_PATH: at(`${where}/changes`),
  TESSERA_BEHAVIOURS_STORE: 'embedded',
  TESSERA_BEHAVIOURS_PATH: at(`${where}/behaviours`),
  TESSERA_ADAPTERS_PATH: at(`${where}/adapters`),
  TESSERA_WEIGHTS_PATH: at(`${where}/weights`),
});
let service: Service;
let digest = '';

beforeAll(async () => {
  mkdirSync(at('served/weights/other'), { recursive: true });
  for (const file of ['config.json', 'model.safetensors']) {
    cpSync(join(DEMO, file), at(`served/weights/other/${file}`));
  }
  mkdirSync(at('models'));
  symlinkSync(resolve('test/fixtures/encoders/bert-mean'), at('models/minilm'));
  cpSync('test/fixtures/encoders/bert-mean', at('models/encoder'), { recursive: true });
  cpSync('test/fixtures/relevance', at('models/judge'), { recursive: true });
  cpSync('test/fixtures/relevance/short.json', at('models/judge/relevance.json'));
  writeRandomAdapter(at('adapter'), { seed: 1, size: 0.01 });
  service = await Service.start({
    ...stores('served'),
    TESSERA_EMBEDDING_MODELS: `minilm=${at('models/minilm')}`,
    TESSERA_RELEVANCE_PATH: resolve('test/fixtures/relevance'),
  });
});
afterAll(async () => {
  await service?.stop();
  folder.remove();
});

interface Ended {
  readonly status: number;
  readonly output: string;
}

async function inShell(script: string, variables: Record<string, string>): Promise<Ended> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...variables };
  const options = { cwd: folder.path, env, timeout: COMMAND_MS, maxBuffer: 1 << 26 };
  const ended = promisify(execFile)('sh', ['-c', script], options);
  return ended.then(
    ({ stdout, stderr }) => ({ status: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ status: code, output: stdout + stderr }),
  );
}

/** A line with programs in the place of npm scripts, and the address of this service. */
function made(text: string): string {
  const programOf = (name: string) => {
    const path = /tools\/run\.mjs (?:--system )?(\S+)$/.exec(scripts[name] ?? '')?.[1];
    if (path === undefined) throw new Error(`package.json has no program ${name}`);
    return `node ${resolve(path.endsWith('.mjs') ? path : `dist/${path}.js`)}`;
  };
  return text
    .replace(/\bnpm run (?:-s )?(\S+)( --(?= ))?/g, (_all, name) => programOf(name))
    .replace(/\bnpm start( --(?= ))?/g, programOf('start'))
    .replaceAll(/(http:\/\/127\.0\.0\.1|\blocalhost):8080/g, service.httpUrl)
    .replaceAll('http://127.0.0.1:50051', `http://${service.grpcAddress}`)
    .replace(/^npx buf /, `${resolve('node_modules/.bin/buf')} `)
    .replaceAll('curl -s ', 'curl -sS --fail-with-body ')
    .replaceAll('DIGEST', digest);
}

const portOf = (address: string) => address.slice(address.lastIndexOf(':') + 1);

async function ran(line: DocumentedLine, way: Extract<Way, { run: string }>): Promise<string> {
  const ports = {
    TESSERA_GRPC_PORT: portOf(service.grpcAddress),
    TESSERA_HTTP_PORT: portOf(service.httpUrl),
  };
  const put = (way.put ?? []).reduce((text, [from, to]) => text.replaceAll(from, to), line.text);
  const script = [...line.before, put].map(made).join('\n');
  const variables = { ...stores(way.run), ...(way.run === 'served' && ports) };
  const { status, output } = await inShell(script, variables);
  expect.soft(status, `${line.text}: ${output}`).toBe(way.exit ?? 0);
  if (/adapter -- push/.test(line.text)) digest = /[0-9a-f]{64}/.exec(output)?.[0] ?? '';
  return 'run';
}

async function parsed(line: DocumentedLine, by: 'flags' | 'configuration' | 'trainer') {
  if (by === 'trainer') {
    const [, words = ''] = /python -m trainer (.*)/s.exec(line.text) ?? [];
    const program = `python3 ${resolve('test/e2e/trainer_flags.py')}`;
    const path = [process.cwd(), resolve('clients/python')].join(':');
    const { status, output } = await inShell(`${program} ${words}`, { PYTHONPATH: path });
    expect.soft([status, output], line.text).toEqual([0, '']);
    return 'parsed';
  }
  const script = [...line.before, line.text].map(made).join('\n');
  if (by === 'configuration') {
    const { status, output } = await inShell(`${script} --print-config`, {});
    expect.soft(status, `${line.text}: ${output}`).toBe(0);
    return 'parsed';
  }
  const { status, output } = await inShell(`${script} ${UNKNOWN}`, {});
  expect
    .soft([status, output.split('\n')[0]], line.text)
    .toEqual([2, `Unknown option '${UNKNOWN}'`]);
  return 'parsed';
}

const wayOf = (line: DocumentedLine) => WAYS.find(([pattern]) => pattern.test(line.text));
/**
 * Lines that open stores run one at a time in the order of the pages: a change is rolled back by
 * the line behind it, and a restore is refused while a repair looks at the same folders. All others
 * run in the order of their page: a line may read what the line before it wrote.
 */
function opensStores(line: DocumentedLine): boolean {
  const [, way] = wayOf(line) ?? [];
  return way !== undefined && 'run' in way && way.run !== 'idle';
}

async function checked(line: DocumentedLine): Promise<string> {
  const [, way] = wayOf(line) ?? [];
  if (way === undefined || 'notRun' in way) return 'not run';
  if ('elsewhere' in way) {
    expect(readFileSync(way.elsewhere, 'utf8'), line.text).toMatch(way.as);
    return 'by another test';
  }
  return 'run' in way ? ran(line, way) : parsed(line, way.parsed);
}

it('each way has a line', () => {
  const lines = documentedLines();
  const used = lines.map(wayOf);
  expect(WAYS.filter((way) => !used.includes(way)).map(([pattern]) => pattern)).toEqual([]);
});

it('nine tenths of the command lines of the pages are checked', async () => {
  const lines = documentedLines();
  const done = new Map<string, Promise<string>>();
  /** A line that stands on several pages is checked once, unless it changes the service. */
  const once = (line: DocumentedLine) => {
    const key = [...line.before, line.text].join('\n');
    const way = done.get(key) ?? checked(line);
    done.set(key, way);
    return way;
  };
  const others = Map.groupBy(lines, ({ page }) => page).values();
  const inOrder = (of: DocumentedLine[], check: typeof once) => pMap(of, check, { concurrency: 1 });
  const [ofStores, ofOthers] = await Promise.all([
    inOrder(lines.filter(opensStores), checked),
    pMap(
      others,
      (page) =>
        inOrder(
          page.filter((line) => !opensStores(line)),
          once,
        ),
      {
        concurrency: 2,
      },
    ),
  ]);
  const ways = [...ofStores, ...ofOthers.flat()];
  const counts = Map.groupBy(ways, (way) => way);
  const share = (...names: string[]) =>
    names.reduce((sum, name) => sum + (counts.get(name)?.length ?? 0), 0) / lines.length;
  const all = [...counts].map(([way, { length }]) => `${length} ${way}`).join(', ');
  console.log(`documented-commands.system.spec: of ${lines.length} command lines ${all}`);
  expect(share('run', 'parsed', 'by another test')).toBeGreaterThanOrEqual(CHECKED_MIN);
}, 600_000);
