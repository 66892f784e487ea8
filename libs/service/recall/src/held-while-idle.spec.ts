// Every request ends at each of its waits in each way that it can end there: afterwards nothing
// that it took is held.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MemoryBehaviourStore, type User } from '@tessera/behaviour';
import { buildCatalogue, type Catalogue, NativeEngine, openCatalogue } from '@tessera/engine';
import { Erasures } from '@tessera/erasure';
import { CompiledTemplate, loadTokenizer, parseTemplate, type Tokenizer } from '@tessera/prompt';
import {
  type RecallContext,
  type RecallRequest,
  readEligibility,
  type ScoreRequest,
  UseCases,
} from '@tessera/recall';
import { checkNothingHeld, temporaryFolder } from '@tessera/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

const MODEL = fileURLToPath(
  new URL('../../../../test/fixtures/parity/qwen3-tied', import.meta.url),
);
const ITEMS = readFileSync(join(MODEL, 'catalogue.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => (JSON.parse(line) as { item_id: string }).item_id);
const TEMPLATE = parseTemplate({
  version: 1,
  name: 'tiny',
  levels: [3, 15, 27].map((base) => ({ base })),
  segments: [{ text: 'bos' }, { slot: 'history' }],
});
const TOKENIZER = {
  added_tokens: [{ id: 83, content: 'bos' }],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  model: { type: 'WordLevel', vocab: { '<unk>': 0, bos: 83 }, unk_token: '<unk>' },
};
const QUEUE_CAPACITY = 4;
/** More than any request has waits: each of them ends one. */
const USERS = Array.from({ length: 20 }, (_, i) => `user ${i}`);
const HISTORY = ITEMS.slice(0, 15).map((itemId, time) => ({ itemId, action: 'click', time }));
const HISTORIES = new Map<string, User>(
  USERS.map((userId) => [userId, { behaviours: HISTORY, profile: {} }]),
);

const folder = temporaryFolder({ 'tokenizer.json': TOKENIZER });
let tokenizer: Tokenizer;
let catalogue: Catalogue;
beforeAll(async () => {
  tokenizer = await loadTokenizer(folder.path);
  const outputPath = join(folder.path, 'catalogue.snapshot');
  const sources = [{ path: join(MODEL, 'catalogue.jsonl'), domain: '' }];
  await buildCatalogue({ sources, titlesPath: '', levelSizes: [], outputPath }, () => undefined);
  catalogue = await openCatalogue(outputPath);
});
afterAll(() => folder.remove());
afterEach(() => vi.restoreAllMocks());

function openEngine(): Promise<NativeEngine> {
  return NativeEngine.open({
    modelPath: MODEL,
    computeType: 'f32',
    activationScalesPath: '',
    threadCount: 1,
    queueCapacity: QUEUE_CAPACITY,
    batchRequestsMax: 2,
    batchRowsMax: 256,
    prefillChunkTokens: 32,
    passTimeTargetUs: 0,
    batching: 'continuous',
    kvBytesMax: 2 ** 28,
    promptTokensMax: 128,
    widthMax: 64,
    resultCountMax: 64,
    scoreItemsMax: 64,
    kv: {
      pool: 'on',
      deviceBytes: 2 ** 24,
      hostBytes: 0,
      diskBytes: 2 ** 24,
      path: join(folder.path, 'kv'),
      blockCodec: 'exact',
      versionsBackMax: 0,
      readThreads: 1,
      storeQueueMax: 16,
      prefetchQueueMax: 64,
    },
  });
}

/** The parts with a wait before and behind each of their methods that requests wait for. */
function withWaits<Part extends object>(
  part: Part,
  methods: readonly string[],
  wait: () => Promise<void>,
): Part {
  return new Proxy(part, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const method = value.bind(target);
      if (!methods.includes(String(name))) return method;
      return async (...given: unknown[]) => {
        await wait();
        const answer = method(...given);
        await wait();
        const answered = await answer;
        await wait();
        return answered;
      };
    },
  });
}

class World {
  readonly erasures = new Erasures();
  private readonly useCases: UseCases;
  private readonly binding;
  private waitsLeft = Number.POSITIVE_INFINITY;
  private end: () => void = () => undefined;
  waits = 0;

  constructor(readonly engine: NativeEngine) {
    const template = new CompiledTemplate(TEMPLATE, tokenizer, catalogue.summary.levelSizes);
    const wait = () => this.wait();
    this.binding = engine.bind(catalogue, template.levelTokens, { template: 't', codebook: 'c' });
    this.useCases = new UseCases({
      engine: withWaits(engine, ['recall', 'score', 'append'], wait),
      catalogue: withWaits(catalogue, ['reach', 'judge'], wait),
      binding: this.binding,
      template,
      behaviours: withWaits(new MemoryBehaviourStore(HISTORIES), ['user'], wait),
      erasures: this.erasures,
      process: { node: 'n-1' },
      defaults: {
        search: 'beam',
        rowBudget: 0,
        resultCount: 8,
        historyItemsMax: 100,
        historyTrimPercent: 50,
        rememberedRecalls: 2,
      },
      promptTokensMax: 128,
      widthMax: 64,
      resultCountMax: 64,
      scoreItemsMax: 64,
    });
  }

  /** The nth wait of the next request is where `end` happens. */
  endAt(wait: number, end: () => void): void {
    this.waits = 0;
    this.waitsLeft = wait;
    this.end = end;
  }

  private async wait(): Promise<void> {
    this.waits += 1;
    if (this.waitsLeft === 0) this.end();
    this.waitsLeft -= 1;
  }

  ask(kind: string, userId: string, context: RecallContext): Promise<unknown> {
    const recall: RecallRequest = {
      requestId: '',
      userId,
      profile: {},
      scene: {},
      resultCount: 0,
      widths: [],
      itemsPerSid: 0,
      skipUnknownItems: false,
      eligibility: readEligibility({ denied: [ITEMS[3] ?? ''] }),
    };
    if (kind === 'recall') return this.useCases.recall(recall, context);
    if (kind === 'append') return this.useCases.append(recall, context);
    const itemId = ITEMS[7] ?? '';
    if (kind === 'explain') return this.useCases.explain({ recall, itemId }, context);
    if (kind === 'relevance') return this.relevance(context);
    const score = { ...recall, items: [{ itemId }] } as unknown as ScoreRequest;
    return this.useCases.score(score, context);
  }

  private async relevance({ signal, budgetUs }: RecallContext): Promise<void> {
    await this.wait();
    const prompt = {
      promptTokens: Int32Array.from({ length: 40 }, (_, i) => i),
      labelTokens: Int32Array.of(3, 5),
      scoreNorm: 'full',
      priority: 'normal',
      siblingTokens: 0,
      budgetUs,
    } as const;
    const asked = Promise.allSettled(this.engine.relevance([prompt, prompt, prompt], signal));
    await this.wait();
    await asked;
  }

  /** So many requests at once that the queue refuses those behind them. */
  async fillQueue(): Promise<void> {
    const work = {
      binding: this.binding,
      promptTokens: Int32Array.from({ length: 100 }, (_, i) => i % 80),
      priority: 'high',
      budgetUs: 60e6,
    } as const;
    const filling = Array.from({ length: 3 * QUEUE_CAPACITY }, () => this.engine.append(work));
    await Promise.allSettled(filling);
  }
}

const ENDS: Readonly<
  Record<string, (world: World, userId: string, caller: AbortController) => unknown>
> = {
  cancelled: (_world, _userId, caller) => caller.abort(),
  refused: (world) => world.fillQueue(),
  late: () => {
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 3_600_000);
  },
  erased: (world, userId) => {
    world.erasures.note(userId);
    return world.engine.kvPool.dropUser(userId, 10_000);
  },
  drained: (world) => world.engine.drain(0),
};

describe.each(['recall', 'score', 'append', 'explain', 'relevance'])('a %s', (kind) => {
  it.each(Object.keys(ENDS))(
    'that is %s at any of its waits leaves nothing behind',
    async (how) => {
      let engine = await openEngine();
      const context = () => ({ signal: new AbortController().signal, budgetUs: 60e6 });
      const before = new World(engine);
      for (const userId of USERS) await before.ask('append', userId, context());
      await engine.drain(10_000);
      await engine.close();
      engine = await openEngine();
      try {
        let world = new World(engine);
        for (const [wait, userId] of USERS.entries()) {
          const caller = new AbortController();
          const following: unknown[] = [];
          world.endAt(wait, () => following.push(ENDS[how]?.(world, userId, caller)));
          const asked = world.ask(kind, userId, { signal: caller.signal, budgetUs: 60e6 });
          await asked.catch(() => undefined);
          await Promise.all(following);
          vi.restoreAllMocks();
          await checkNothingHeld(engine);
          if (following.length === 0) {
            expect(wait).toBeGreaterThanOrEqual(kind === 'relevance' ? 2 : 6);
            return;
          }
          if (how !== 'drained') continue;
          await engine.close();
          engine = await openEngine();
          world = new World(engine);
        }
        expect.fail(`${kind}: expected at most ${USERS.length - 1} waits, got ${world.waits}`);
      } finally {
        await engine.close();
      }
    },
  );
});
