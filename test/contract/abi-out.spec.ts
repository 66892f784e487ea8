import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EVERY_ITEM } from '@tessera/engine';
import {
  type CatalogueHandle,
  type EngineHandle,
  loadAddon,
  NOTHING,
  PackedReader,
  PackedWriter,
  type ReachHandle,
  type RequestKind,
  readAnswerFacts,
  readCompletionHead,
  readFailure,
  readRankAnswer,
  readRecallAnswer,
  readRelevanceAnswer,
  readScoreAnswer,
  readStoreFound,
  writeChangeMessage,
  writeGivenCodebooks,
  writeRankRequest,
  writeReachRequest,
  writeRecallRequest,
  writeRelevanceRequest,
  writeRequestHead,
  writeRequestWork,
  writeScoreRequest,
  writeStoreBatch,
  writeStoreQuery,
  writeValueRequest,
} from '@tessera/native';
import { temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Described, DescribedReader, faults, innerNames, parts } from './described.js';
import { ENGINE_OPTIONS } from './engine-options.js';

const MODEL = ENGINE_OPTIONS.modelPath;
const RANKING = fileURLToPath(new URL('../fixtures/ranking/qwen3-heads', import.meta.url));
const written = parts.flatMap((part) => part.written ?? []);
const packedOut = parts.flatMap((part) => part.packedOut ?? []);
const addon = loadAddon();
let engine: EngineHandle;
let catalogue: CatalogueHandle;
let reach: ReachHandle;
let rankSlot: number = NOTHING.adapter;
const folder = temporaryFolder({});

/** Objects that came out of the addon, by the record that describes them. */
const given = new Map<string, unknown>();

type Read = (from: PackedReader) => unknown;

/** Packed records that came out, and who reads their parts. */
interface Packed {
  readonly words: Uint32Array;
  readonly parts: readonly (readonly [record: string, read: Read])[];
}

const packed = new Map<string, Packed>();
const completions: Uint32Array[] = [];

async function ofEngine(): Promise<void> {
  given.set('ModelShape', addon.modelShape(MODEL));
  given.set('AbiDescription', addon.describeAbi());
  engine = await addon.engineOpen({ ...ENGINE_OPTIONS, adapterBytesMax: 2 ** 24 }, (words) => {
    completions.push(words);
  });
  given.set('ModelInfo', addon.engineModel(engine));
  given.set('EngineStats', addon.engineStats(engine));
  const forecast = addon.engineForecast(engine);
  given.set('EngineForecast', forecast);
  given.set('ClassForecast', forecast.classes[0]);
  given.set('KvMetrics', addon.kvMetrics(engine));
  given.set('KvIntegrity', await addon.kvCheckIntegrity(engine));
  given.set('WeightsUpdate', addon.engineWeights(engine));
  given.set('AdapterArena', addon.engineAdapterArena(engine));
  given.set('SubmitOutcome', addon.engineSubmit(engine, new Uint32Array(), 0, []));
  given.set('LaneDepth', addon.tasksDepths()[0]);
  const limits = { rankMax: 128, normMax: 100 };
  const ranking = await addon.engineLoadAdapter(engine, RANKING, limits);
  given.set('AdapterInfo', ranking);
  rankSlot = ranking.slot;
}

/** '': by score. */
const everyItem = (name = '') => {
  const valuation = { name, scoreWeight: Number.NaN, floor: Number.NaN, weights: [] };
  return new PackedWriter().record(writeReachRequest, Object.assign({ valuation }, EVERY_ITEM));
};

async function appraised(itemId: string): Promise<object> {
  const formula = {
    name: 'v',
    scoreWeight: 1,
    floor: 0,
    bid: '',
    pace: '',
    terms: [],
    headTerms: [],
  };
  const valuations = [formula];
  await addon.catalogueValue(
    catalogue,
    ...new PackedWriter().record(writeValueRequest, { valuations }),
  );
  const valued = await addon.catalogueReach(catalogue, ...everyItem('v'), 0);
  return addon.catalogueAppraise(valued.reach, [itemId], ...everyItem(''));
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
  catalogue = await addon.catalogueOpen(outputPath);
  await addon.catalogueKeep(catalogue, {
    folder: `${folder.path}/changes`,
    sync: 'never',
    levelSizes,
    reserveBytes: 0,
  });
  const view = addon.catalogueView(catalogue);
  const [words, count] = new PackedWriter().record(writeChangeMessage, { changes: [] });
  const applied = await addon.catalogueApply(catalogue, [words.subarray(0, count)], 'mark');
  given.set('AppliedChanges', applied);
  const reached = await addon.catalogueReach(catalogue, ...everyItem(), 0);
  given.set('CatalogueInfo', addon.catalogueInfo(catalogue));
  given.set('CatalogueState', addon.catalogueState(catalogue));
  given.set('CatalogueDigest', await addon.catalogueDigest(catalogue));
  given.set('CatalogueGeneration', (await addon.catalogueVersions(catalogue))[0]);
  given.set('CatalogueReach', reached);
  reach = reached.reach;
  const judged = await addon.catalogueJudge(catalogue, ...everyItem(), 'none', -1, 0);
  given.set('CatalogueJudgement', judged);
  given.set('CatalogueSids', addon.catalogueSids(view, Uint32Array.of(0)));
  const texts = addon.catalogueItems(view, Uint32Array.of(0));
  given.set('ItemTexts', texts);
  given.set('CatalogueAppraisal', await appraised(texts.itemIds[0] ?? ''));
  const levels = [{ values: Float32Array.of(0, 1) }];
  const codebooks = { dimension: 1, capacity: 1, encoder: [], levels };
  const [books, size] = new PackedWriter().record(writeGivenCodebooks, codebooks);
  await addon.catalogueQuantiseBy(catalogue, [books.subarray(0, size)]);
  given.set('CatalogueLanding', await addon.catalogueLanding(catalogue, Float32Array.of(1), 2));
  given.set('CatalogueListing', addon.catalogueList(reached.reach, 0, 1));
}

const [RECORDED] = JSON.parse(readFileSync(`${MODEL}/cases.json`, 'utf8')) as [
  { readonly promptTokens: readonly number[]; readonly levelTokenBase: readonly number[] },
];

function bind(): number {
  const { levelSizes } = addon.catalogueInfo(catalogue);
  const levelOffsets = Uint32Array.of(0, ...levelSizes).map((_, level) =>
    levelSizes.slice(0, level).reduce((sum, size) => sum + size, 0),
  );
  const levelTokens = [...levelSizes].flatMap((size, level) =>
    Array.from({ length: size }, (_, code) => (RECORDED.levelTokenBase[level] ?? 0) + code),
  );
  return addon.engineBind(engine, catalogue, {
    levelOffsets,
    levelTokens: Int32Array.from(levelTokens),
    terminalTokens: new Int32Array(),
    templateDigest: 't',
    codebookDigest: 'c',
  });
}

type Write = (to: PackedWriter) => void;

const recalled: Write = (to) => {
  writeRecallRequest(to, {
    widths: [8],
    rowBudget: 64,
    resultCount: 8,
    itemsPerSid: 2,
    scoreNorm: 'full',
    allowsPartial: false,
    watchedItem: 0,
    attributes: ['bid'],
    wantsTree: true,
    exploreSlots: 0,
    exploreTemperature: 1,
    exploreSeedLow: 0,
    exploreSeedHigh: 0,
    rankSlot: NOTHING.adapter,
    rankPrefix: new Int32Array(),
    rankSuffixes: [],
  });
};
const scored: Write = (to) =>
  writeScoreRequest(to, {
    sids: [
      [0, 0, 5],
      [9, 9, 9],
    ],
    scoreNorm: 'full',
  });
const appended: Write = () => undefined;
const ranked: Write = (to) =>
  writeRankRequest(to, {
    items: Uint32Array.of(0, 3),
    rankSlot,
    rankPrefix: Int32Array.of(1),
    rankSuffixes: [[2], []],
  });
const judged: Write = (to) =>
  writeRelevanceRequest(to, {
    labelTokens: Int32Array.of(3, 5),
    siblingTokens: 0,
    scoreNorm: 'full',
  });

/** The completion of a request of this kind. */
async function completed(kind: RequestKind, binding: number, budgetUs: number, write: Write) {
  const out = new PackedWriter();
  out.begin();
  const { adapter } = NOTHING;
  writeRequestHead(out, { ticket: completions.length + 1, kind, binding, adapter, budgetUs });
  writeRequestWork(out, {
    priority: 'normal',
    promptTokens: Int32Array.from({ length: 40 }, (_, i) => RECORDED.promptTokens[i % 5] ?? 0),
    userId: 'ann',
    prefixTokens: 0,
    keepTokens: 40,
    wantsExactKv: false,
  });
  write(out);
  out.end();
  const before = completions.length;
  const reaches = [kind === 'recall' || kind === 'rank' ? reach : null];
  addon.engineSubmit(engine, out.words, out.length, reaches);
  await until('a completion', () => completions.length > before);
  const words = completions.at(-1) as Uint32Array;
  expect(readCompletionHead(new PackedReader(words).open(0)).status === 0).toBe(budgetUs > 0);
  return words;
}

const HEAD = ['CompletionHead', readCompletionHead] as const;
const FACTS = ['AnswerFacts', readAnswerFacts] as const;

async function ofRequests(): Promise<void> {
  const binding = bind();
  const answers: readonly (readonly [RequestKind, Write, Packed['parts']])[] = [
    ['append', appended, [HEAD, FACTS]],
    ['recall', recalled, [HEAD, FACTS, ['RecallAnswer', readRecallAnswer]]],
    ['score', scored, [HEAD, FACTS, ['ScoreAnswer', readScoreAnswer]]],
    ['relevance', judged, [HEAD, FACTS, ['RelevanceAnswer', readRelevanceAnswer]]],
    ['rank', ranked, [HEAD, FACTS, ['RankAnswer', readRankAnswer]]],
  ];
  for (const [kind, write, records] of answers) {
    packed.set(kind, { words: await completed(kind, binding, 60e6, write), parts: records });
  }
  const late = await completed('recall', binding, 0, recalled);
  packed.set('failure', { words: late, parts: [HEAD, ['Failure', readFailure]] });
  given.set('KvChain', addon.kvInspect(engine, 'ann')[0]);
}

const entry = (key: string, value: string) => ({
  key: Buffer.from(key),
  value: Buffer.from(value),
});

async function ofStore(): Promise<void> {
  const path = `${folder.path}/store`;
  const store = await addon.storeOpen({ path, reserveBytes: 0 });
  given.set('StoreState', addon.storeState(store));
  const out = new PackedWriter();
  const put = [entry('a', ''), entry('b', '\u00e4\0'), entry('c', 'three')];
  const batch = { erased: [], put, durability: 'process' } as const;
  await addon.storeWrite(store, ...out.record(writeStoreBatch, batch));
  const [from, to] = [Buffer.from('a'), Buffer.from('z')];
  const range = { from, to, limit: 2, direction: 'descending' } as const;
  const query = { keys: [to, from], ranges: [range] };
  const words = await addon.storeRead(store, ...out.record(writeStoreQuery, query));
  packed.set('store', { words, parts: [['StoreFound', readStoreFound]] });
  addon.storeClose(store);
  given.set('StoreRepair', await addon.storeRepair(path, false));
}

/** One row, which leaves experts that it does not choose. */
async function ofScales(): Promise<void> {
  const measured = await addon.measureScales({
    modelPath: 'test/fixtures/parity/qwen3-moe',
    outputPath: `${folder.path}/scales.json`,
    threadCount: 1,
    keptPerMille: 1000,
    promptOffsets: Uint32Array.of(0, 1),
    promptTokens: Int32Array.of(3),
  });
  expect(measured.unseen.length).toBeGreaterThan(0);
  given.set('MeasuredScales', measured);
}

beforeAll(async () => {
  await ofEngine();
  await ofCatalogue();
  await ofRequests();
  await ofStore();
  await ofScales();
});

afterAll(async () => {
  await addon.engineClose(engine);
  addon.catalogueClose(catalogue);
  folder.remove();
});

const outer = written.filter(({ name }) => !innerNames(written).has(name));

describe('what comes out of the addon', () => {
  it.each(outer)('is $name as it is described, member by member and kind by kind', (record) => {
    expect(given.has(record.name)).toBe(true);
    expect(faults(given.get(record.name), record, record.name)).toEqual([]);
  });

  const described = (name: string) => packedOut.find((one) => one.name === name) as Described;

  it.each(['append', 'recall', 'score', 'failure', 'store'])(
    'is a packed record of %s to the last word, read as a reader of the description reads it',
    (name) => {
      const { words, parts: records } = packed.get(name) as Packed;
      const ours = new DescribedReader(words);
      const theirs = new PackedReader(words).open(0);
      for (const [record, read] of records) {
        const value = read(theirs);
        expect(value).toEqual(ours.record(described(record)));
        expect(faults(value, described(record), record)).toEqual([]);
      }
      expect(ours.isWhole).toBe(true);
    },
  );

  it('covers every packed record', () => {
    const covered = [...packed.values()].flatMap(({ parts: records }) => records);
    const names = new Set(covered.map(([name]) => name));
    const fields = packedOut.filter((one) => Object.keys(one.fields).length > 0);
    expect(names).toEqual(new Set(fields.map(({ name }) => name)));
  });
});
