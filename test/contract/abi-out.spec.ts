import { fileURLToPath } from 'node:url';
import { EVERY_ITEM } from '@tessera/engine';
import { loadAddon, PackedWriter, writeChangeMessage, writeReachRequest } from '@tessera/native';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Field {
  readonly kind: string;
  readonly words?: readonly string[] | { readonly list: readonly string[] };
  readonly record?: Described;
}
interface Described {
  readonly name: string;
  readonly fields: Readonly<Record<string, Field>>;
}

const MODEL = fileURLToPath(new URL('../fixtures/parity/qwen3-tied', import.meta.url));
const NAMES = ['engine', 'kv', 'catalogue', 'store'];
const parts: readonly { readonly written: readonly Described[] }[] = await Promise.all(
  NAMES.map(async (name) => (await import(`../../native/abi/${name}.mjs`)).default),
);
const written = parts.flatMap((part) => part.written);
const addon = loadAddon();
const folder = temporaryFolder({});

/** What came out of the addon, by the record that describes it. */
const given = new Map<string, unknown>();

const OPTIONS = {
  modelPath: MODEL,
  computeType: 'f32',
  activationScalesPath: '',
  device: 'cpu',
  threadCount: 1,
  threadPlacement: 'free',
  queueCapacity: 4,
  batchRequestsMax: 1,
  batchRowsMax: 1024,
  prefillChunkTokens: 32,
  passTimeTargetUs: 0,
  batching: 'continuous',
  kvBytesMax: 2 ** 28,
  kvPool: 'on',
  kvDeviceBytes: 2 ** 26,
  kvHostBytes: 0,
  kvDiskBytes: 0,
  kvFolder: '',
  kvEviction: 'lru',
  kvReadThreads: 1,
  kvStoreQueueMax: 1,
  kvPrefetchQueueMax: 2,
  kvMemory: 'pageable',
  kvBlockCodec: 'exact',
  promptTokensMax: 64,
  widthMax: 64,
  resultCountMax: 64,
  scoreItemsMax: 64,
  adapterBytesMax: 0,
  kvVersionsBackMax: 0,
  kvDiskReserveBytes: 0,
} as const;

async function ofEngine(): Promise<void> {
  given.set('ModelShape', addon.modelShape(MODEL));
  given.set('AbiDescription', addon.describeAbi());
  const engine = await addon.engineOpen(OPTIONS, () => undefined);
  given.set('ModelInfo', addon.engineModel(engine));
  given.set('EngineStats', addon.engineStats(engine));
  given.set('KvMetrics', addon.kvMetrics(engine));
  given.set('KvIntegrity', await addon.kvCheckIntegrity(engine));
  given.set('WeightsUpdate', addon.engineWeights(engine));
  given.set('AdapterArena', addon.engineAdapterArena(engine));
  given.set('SubmitOutcome', addon.engineSubmit(engine, new Uint32Array(), 0, []));
  given.set('LaneDepth', addon.tasksDepths()[0]);
  await addon.engineClose(engine);
}

function everyItem(): [Uint32Array, number] {
  const out = new PackedWriter();
  out.begin();
  writeReachRequest(out, EVERY_ITEM);
  out.end();
  return [out.words, out.length];
}

async function ofCatalogue(): Promise<void> {
  const outputPath = `${folder.path}/catalogue.snapshot`;
  const levelSizes = new Uint32Array();
  const sources = [`${MODEL}/catalogue.jsonl`];
  given.set(
    'CatalogueBuildReport',
    await addon.catalogueBuild(
      { sources, domains: [''], titlesPath: '', levelSizes, outputPath },
      () => undefined,
    ),
  );
  const catalogue = await addon.catalogueOpen(outputPath);
  await addon.catalogueKeep(catalogue, {
    folder: `${folder.path}/changes`,
    sync: 'never',
    levelSizes,
    reserveBytes: 0,
  });
  const view = addon.catalogueView(catalogue);
  const nothing = new PackedWriter();
  nothing.begin();
  writeChangeMessage(nothing, { changes: [] });
  nothing.end();
  const message = nothing.words.subarray(0, nothing.length);
  given.set('AppliedChanges', await addon.catalogueApply(catalogue, [message]));
  const reached = await addon.catalogueReach(catalogue, ...everyItem(), 0);
  given.set('CatalogueInfo', addon.catalogueInfo(catalogue));
  given.set('CatalogueState', addon.catalogueState(catalogue));
  given.set('CatalogueGeneration', (await addon.catalogueVersions(catalogue))[0]);
  given.set('CatalogueReach', reached);
  const judged = await addon.catalogueJudge(catalogue, ...everyItem(), 'none', -1, 0);
  given.set('CatalogueJudgement', judged);
  given.set('CatalogueSids', addon.catalogueSids(view, Uint32Array.of(0)));
  given.set('ItemTexts', addon.catalogueItems(view, Uint32Array.of(0)));
  given.set('CatalogueListing', addon.catalogueList(reached.reach, 0, 1));
  addon.catalogueClose(catalogue);
}

async function ofStore(): Promise<void> {
  const path = `${folder.path}/store`;
  const store = await addon.storeOpen({ path, reserveBytes: 0 });
  given.set('StoreState', addon.storeState(store));
  addon.storeClose(store);
  given.set('StoreRepair', await addon.storeRepair(path, false));
}

beforeAll(async () => {
  await ofEngine();
  await ofCatalogue();
  await ofStore();
});

afterAll(() => folder.remove());

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  u32: Number.isInteger,
  u53: Number.isSafeInteger,
  f64: (value) => typeof value === 'number',
  bytes: (value) => value instanceof Uint8Array,
  u32s: (value) => value instanceof Uint32Array,
  f64s: (value) => value instanceof Float64Array,
  codes: (value) => Array.isArray(value) && value.every(Number.isInteger),
  texts: (value) => Array.isArray(value) && value.every((text) => typeof text === 'string'),
  handle: (value) => typeof value === 'object' && value !== null,
};

/** What differs from the description, by its path. */
function faults(value: unknown, { fields }: Described, path: string): string[] {
  const members = Object.keys(value as object);
  if (members.join() !== Object.keys(fields).join()) return [`${path}: has ${members.join()}`];
  return Object.entries(fields).flatMap(([name, { kind, words, record }]) => {
    const member = (value as Record<string, unknown>)[name];
    const at = `${path}.${name}`;
    if (kind === 'one') return faults(member, record as Described, at);
    if (kind === 'list') {
      return (member as unknown[]).flatMap((each) => faults(each, record as Described, at));
    }
    const all = words === undefined ? [] : 'list' in words ? words.list : words;
    const isRight = kind === 'choice' ? all.includes(member as string) : KINDS[kind]?.(member);
    return isRight === true ? [] : [`${at}: expected ${kind}, got ${typeof member}`];
  });
}

/** Of adapters and of chains that a request left: their own specs have them. */
const ELSEWHERE = ['AdapterInfo', 'KvChain'];
const inner = written.flatMap(({ fields }) =>
  Object.values(fields).flatMap(({ record }) => (record === undefined ? [] : [record.name])),
);
const outer = written.filter(({ name }) => ![...ELSEWHERE, ...inner].includes(name));

describe('what comes out of the addon', () => {
  it.each(outer)('is $name as it is described, member by member and kind by kind', (record) => {
    expect(given.has(record.name)).toBe(true);
    expect(faults(given.get(record.name), record, record.name)).toEqual([]);
  });
});
