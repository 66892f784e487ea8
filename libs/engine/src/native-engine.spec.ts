import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NOTHING, TREE_OUTCOMES, TREE_SLOTS } from '@tessera/native';
import { checkNothingHeld } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERY_ITEM, NO_ELIGIBILITY } from './catalogue.js';
import type { Binding, EngineRequest } from './engine.js';
import type { EngineOptions } from './engine-options.js';
import { readModelShape } from './model-shape.js';
import { buildCatalogue, openCatalogue } from './native-catalogue.js';
import { NativeEngine } from './native-engine.js';

const MODEL = fileURLToPath(new URL('../../../test/fixtures/parity/qwen3-tied', import.meta.url));

interface RecordedCase {
  readonly promptTokens: readonly number[];
  readonly widths: readonly number[];
  readonly levelTokenBase: readonly number[];
  readonly expected: readonly { readonly sid: readonly number[]; readonly score: number }[];
}

const CASES = JSON.parse(readFileSync(join(MODEL, 'cases.json'), 'utf8')) as RecordedCase[];
const [RECORDED] = CASES as [RecordedCase];
const OPTIONS: EngineOptions = {
  modelPath: MODEL,
  computeType: 'f32',
  activationScalesPath: '',
  threadCount: 1,
  queueCapacity: 4,
  batchRequestsMax: 1,
  batchRowsMax: 1024,
  prefillChunkTokens: 32,
  passTimeTargetUs: 0,
  batching: 'continuous',
  kvBytesMax: 2 ** 30,
  promptTokensMax: 64,
  widthMax: 64,
  resultCountMax: 64,
  scoreItemsMax: 64,
};

let folder: string;
let engine: NativeEngine;
let binding: Binding;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tessera-engine-'));
  const outputPath = join(folder, 'catalogue.snapshot');
  const stages = new Set<string>();
  await buildCatalogue(
    {
      sources: [{ path: join(MODEL, 'catalogue.jsonl'), domain: '' }],
      titlesPath: '',
      levelSizes: [],
      outputPath,
    },
    (stage) => stages.add(stage),
  );
  expect(stages.size).toBeGreaterThan(0);
  engine = await NativeEngine.open(OPTIONS);
  const catalogue = await openCatalogue(outputPath);
  const levels = catalogue.summary.levelSizes.map((size, level) =>
    Int32Array.from({ length: size }, (_, code) => (RECORDED.levelTokenBase[level] ?? 0) + code),
  );
  binding = engine.bind(catalogue, { levels, terminal: [] });
});

afterAll(async () => {
  await checkNothingHeld(engine).finally(() => engine.close());
  rmSync(folder, { recursive: true });
});

function request(changes: Partial<EngineRequest> = {}): EngineRequest {
  return {
    binding,
    promptTokens: Int32Array.from(RECORDED.promptTokens),
    widths: RECORDED.widths,
    resultCount: 64,
    itemsPerSid: 1,
    scoreNorm: 'full',
    priority: 'normal',
    budgetUs: 60e6,
    ...changes,
  };
}

describe('NativeEngine', () => {
  it('answers a recorded case with its paths, items and widths', async () => {
    const answer = await engine.recall(request());
    expect(answer.paths.map((path) => path.sid)).toEqual(RECORDED.expected.map((p) => p.sid));
    const view = binding.catalogue.view();
    const ordinals = view.find(answer.items.map((item) => item.itemId));
    expect([...ordinals]).toEqual(answer.items.map((item) => item.ordinal));
    expect(view.sids(ordinals)).toEqual(answer.items.map((item) => answer.paths[item.path]?.sid));
    expect(answer.widthsUsed).toHaveLength(binding.catalogue.summary.depth);
  });

  it('tells the tree that led to the answer, and answers the same without one', async () => {
    const plain = await engine.recall(request());
    expect(plain.tree).toBeUndefined();
    const seen = await engine.recall(request({ wantsTree: true }));
    expect(seen.items).toEqual(plain.items);
    const { cells, scores } = seen.tree as NonNullable<typeof seen.tree>;
    const rows = Array.from(scores, (score, row) => {
      const [step, parent, code, outcome] = cells.subarray(row * TREE_SLOTS.length);
      return { step, parent: parent as number, code: code as number, outcome: outcome ?? 0, score };
    });
    const sidOf = (row: number): number[] => {
      const { parent, code } = rows[row] as (typeof rows)[number];
      return parent === NOTHING.row ? [code] : [...sidOf(parent), code];
    };
    const ended = [...rows.keys()].filter(
      (row) => (rows[row]?.outcome ?? 0) & TREE_OUTCOMES.endsHere,
    );
    const found = ended.map((row) => ({ sid: sidOf(row), score: rows[row]?.score }));
    expect(found.sort((a, b) => (b.score ?? 0) - (a.score ?? 0))).toEqual(plain.paths);
    plain.widthsUsed.forEach((width, step) => {
      const chosen = rows.filter((row) => row.step === step && row.outcome !== 0);
      expect(chosen).toHaveLength(width);
    });
  });

  it('knows the shape of a model before it is loaded', () => {
    expect(engine.model).toMatchObject(readModelShape(MODEL));
    expect(() => readModelShape(folder)).toThrow(
      expect.objectContaining({ code: 'MODEL_NOT_FOUND' }),
    );
  });

  it('tells where the time went, pass by pass and as their sums', async () => {
    const { timings, passes } = await engine.recall(request());
    const { totalUs, projectionsUs, attentionUs, ...stages } = timings;
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    expect(totalUs).toBeGreaterThanOrEqual(0.999 * sum(Object.values(stages)));
    const steps = binding.catalogue.summary.depth;
    expect(passes.filter(({ kind }) => kind === 'decode')).toHaveLength(steps - 1);
    expect(passes.filter(({ kind }) => kind === 'prefill').length).toBeGreaterThan(0);
    for (const pass of passes) {
      expect(pass.projectionsUs).toBeGreaterThan(0);
      expect(pass.attentionUs).toBeGreaterThan(0);
      expect(pass.projectionsUs + pass.attentionUs).toBeLessThan(pass.forwardUs);
    }
    expect(sum(passes.map((pass) => pass.projectionsUs))).toBeCloseTo(projectionsUs, 1);
    expect(sum(passes.map((pass) => pass.attentionUs))).toBeCloseTo(attentionUs, 1);
    expect(sum(passes.map((pass) => pass.forwardUs))).toBeCloseTo(
      timings.prefillUs + timings.decodeUs,
      1,
    );
    expect(sum(passes.map((pass) => pass.forkUs))).toBeCloseTo(timings.forkUs, 1);
  });

  it('scores given paths as a recall scores them, to the last bit', async () => {
    const { widths: _, resultCount: __, itemsPerSid: ___, ...work } = request();
    for (const scoreNorm of ['full', 'level', 'allowed'] as const) {
      const recalled = await engine.recall(request({ scoreNorm, widths: [64] }));
      const sids = recalled.paths.slice(0, 60).map((path) => path.sid);
      const unknown = [0, 1, 2, 3, 4, 5, 6, 7];
      const answer = await engine.score({ ...work, scoreNorm, sids: [...sids, unknown, [9e9]] });
      const expected = recalled.paths.slice(0, 60).map((path) => path.score);
      expect(answer.scores).toEqual([...expected, undefined, undefined]);
    }
    const [denied = ''] = (await engine.recall(request())).items.map(({ itemId }) => itemId);
    const reach = await binding.catalogue.reach({
      ...EVERY_ITEM,
      eligibility: { ...NO_ELIGIBILITY, denied: [denied] },
    });
    const some = request({ scoreNorm: 'allowed', widths: [64], reach });
    const { paths } = await engine.recall(some);
    const sids = paths.slice(0, 60).map(({ sid }) => sid);
    const { scores } = await engine.score({ ...work, scoreNorm: 'allowed', reach, sids });
    expect(scores).toEqual(paths.slice(0, 60).map(({ score }) => score));
    const none = engine.score({ ...work, sids: [] });
    await expect(none).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
  });

  it('serves other weights after an update and says so', async () => {
    const other = join(folder, 'other-weights');
    cpSync(MODEL, other, { recursive: true });
    const weights = readFileSync(join(MODEL, 'model.safetensors'));
    const data = 8 + Number(weights.readBigUInt64LE(0));
    // The sign of every fifth weight, whether it is of two bytes or of four.
    for (let at = data + 3; at < weights.length; at += 20) {
      weights[at] = (weights[at] as number) ^ 0x80;
    }
    writeFileSync(join(other, 'model.safetensors'), weights);
    const first = await engine.recall(request());
    expect(first.modelDigest).toBe(engine.model.digest);
    const update = await engine.updateWeights(other, 10_000);
    expect(update.digest).not.toBe(first.modelDigest);
    const second = await engine.recall(request());
    expect(second.modelDigest).toBe(update.digest);
    expect(engine.model.digest).toBe(update.digest);
    expect(second.paths).not.toEqual(first.paths);
    await expect(engine.updateWeights(join(folder, 'none'), 10_000)).rejects.toMatchObject({
      code: 'MODEL_NOT_FOUND',
    });
    await engine.updateWeights(MODEL, 10_000);
    const third = await engine.recall(request());
    expect(third.paths).toEqual(first.paths);
    expect(third.modelDigest).toBe(first.modelDigest);
  });

  it('rejects what breaks a limit, naming the field', async () => {
    await expect(engine.recall(request({ widths: [0] }))).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      message: expect.stringContaining('widths[0]'),
    });
    await expect(engine.recall(request({ resultCount: 1e12 }))).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      message: expect.stringContaining('resultCount'),
    });
  });

  it('rejects an expired budget and an aborted signal without work', async () => {
    const before = engine.stats().forwardPasses;
    await expect(engine.recall(request({ budgetUs: 0 }))).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    await expect(engine.recall(request(), AbortSignal.abort())).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    expect(engine.stats().forwardPasses).toBe(before);
  });

  it('cancels what waits in the queue when its signal aborts, and answers the others', async () => {
    const controller = new AbortController();
    const first = engine.recall(request());
    const second = engine.recall(request(), controller.signal);
    const third = engine.recall(request());
    controller.abort();
    const [one, two, three] = await Promise.allSettled([first, second, third]);
    expect(one.status).toBe('fulfilled');
    expect(two).toMatchObject({ status: 'rejected', reason: { code: 'CANCELLED' } });
    expect(three.status).toBe('fulfilled');
  });

  it('refuses what the queue cannot hold with a retry hint, and serves what it took', async () => {
    const settled = await Promise.allSettled(
      Array.from({ length: 40 }, () => engine.recall(request())),
    );
    const refused = settled.filter((one) => one.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    for (const one of refused) {
      expect(one.reason).toMatchObject({ code: 'ENGINE_OVERLOADED', retryable: true });
      expect(one.reason.retryAfterMs).toBeGreaterThan(0);
    }
    expect(settled.length - refused.length).toBeGreaterThanOrEqual(OPTIONS.queueCapacity);
  });

  it('answers alike through a second binding, and refuses a slot that was unbound', async () => {
    const { catalogue } = binding;
    const levels = catalogue.summary.levelSizes.map((size, level) =>
      Int32Array.from({ length: size }, (_, code) => (RECORDED.levelTokenBase[level] ?? 0) + code),
    );
    const again = engine.bind(catalogue, { levels, terminal: [] });
    const answers = await Promise.all([
      engine.recall(request()),
      engine.recall(request({ binding: again })),
    ]);
    expect(answers[1]?.items).toEqual(answers[0]?.items);
    engine.unbind(again);
    await expect(engine.recall(request({ binding: again }))).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    });
  });

  it('opens no model from a folder that has none', async () => {
    await expect(NativeEngine.open({ ...OPTIONS, modelPath: folder })).rejects.toMatchObject({
      code: 'MODEL_NOT_FOUND',
    });
  });
});
