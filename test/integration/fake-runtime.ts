import { BundleLabel, CatalogueChanges, CHANGES_NOT_KEPT } from '@tessera/catalogue';
import { NOTHING_HELD } from '@tessera/engine';
import { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type {
  AppendAnswer,
  ExplainAnswer,
  ExplainRequest,
  RankAnswer,
  RankRequest,
  RecallAnswer,
  RecallContext,
  RecallFacts,
  RecallOperations,
  RecallRequest,
  RecallRuntime,
  RecallServing,
  ScoreAnswer,
  ScoreRequest,
  UserSource,
} from '@tessera/recall';
import { FakeChangingCatalogue, FakeKvPool } from '@tessera/testing';

const timings = {
  featuresUs: 1,
  promptUs: 2,
  queueUs: 3,
  planUs: 9,
  prefillUs: 4,
  decodeUs: 5,
  projectionsUs: 6,
  attentionUs: 2,
  headUs: 6,
  selectUs: 7,
  forkUs: 10,
  exportUs: 8,
  totalUs: 55,
};

const VERSIONS = {
  model: 'm',
  catalogue: 'c',
  promptTemplate: 'p',
  catalogueSequence: 7,
  adapter: 'd',
  adapterName: 'n',
  node: 'n-1',
};
const NO_BEAM = { resultCount: 0, widths: [], itemsPerSid: 0 };
const kv = {
  tokensByTier: { device: 1, host: 1, disk: 1 },
  sharedTokens: 5,
  computedTokens: 1,
  savedTokens: 8,
  lossy: true,
  inheritedTokens: 1,
  versionsBack: 1,
  waitUs: 250,
};

/** Whatever the valuation. */
const VALUE = { value: 0.5, terms: { bid: 1 }, pace: 0.5, criticalBid: 0.25 };
const RANKING = {
  heads: { click: 0.25 },
  value: { value: -1.5, terms: { ctr: -1.5 }, pace: 1 },
  recallRank: 2,
};
const APPLIED = {
  adapter: 'd',
  adapterName: 'ranking',
  items: 3,
  leftOut: 1,
  heads: ['click'],
  valuation: { name: 'clicks', scoreWeight: 1, weights: { ctr: 1 }, noPrices: 'ranked' },
};

export function answerTo(request: RecallRequest): RecallAnswer {
  const itemId = request.userId ?? request.history?.join('+') ?? '';
  const named = request.attributes?.length ? JSON.stringify({ asked: request.attributes }) : '';
  const { valuation, explore, rank } = request;
  const ranked = rank && { ranking: RANKING };
  const item = { itemId, sid: [3, 1, 4], score: -0.5, rank: 1, title: 'Tëst', attributes: named };
  const drawn = { explored: true, propensity: 0.5 };
  return {
    requestId: request.requestId || 'made',
    items: [Object.assign(item, valuation && { value: VALUE }, explore && drawn, ranked)],
    ...(rank && { ranking: APPLIED }),
    ...(valuation && {
      valuation: {
        ...valuation,
        scoreWeight: 1,
        floor: valuation.floor ?? -9,
        bestLeftOut: 0,
        noPrices: '',
      },
    }),
    ...(explore && {
      exploration: { slots: 1, temperature: 2, seed: explore.seed ?? 0, noPropensities: '' },
    }),
    short: true,
    search: request.search ?? 'certified',
    certified: false,
    gap: -0.75,
    rows: request.rowBudget ?? 6,
    widthsUsed: [2, 4],
    completeness: 'narrowed',
    itemPolicy: {
      orderBy: request.itemPolicy?.orderBy ?? '',
      diversity: request.itemPolicy?.diversity ?? [],
      itemsPerSid: 3,
      resultCount: 5,
      leftOutByDiversity: 2,
    },
    cappedItems: request.frequencyCaps?.length ?? 0,
    unknownAttributes: [],
    historyItems: request.history?.length ?? 0,
    trimmedItems: 0,
    skippedItems: 0,
    fallback: '',
    promptTokens: 9,
    prefixReusedTokens: 5,
    kv,
    versions: VERSIONS,
    timings,
  };
}

export function scoresOf(request: ScoreRequest): ScoreAnswer {
  return {
    requestId: request.requestId || 'made',
    items: request.items.map((item, index) =>
      'itemId' in item
        ? Object.assign(
            { itemId: item.itemId, sid: [3, 1, 4] },
            { outcome: 'scored' as const, score: -index - 0.25 },
            request.valuation && { value: VALUE },
          )
        : { itemId: '', sid: item.sid, outcome: 'unknown' as const },
    ),
    historyItems: request.history?.length ?? 0,
    trimmedItems: 0,
    skippedItems: 0,
    fallback: '',
    promptTokens: 9,
    prefixReusedTokens: 5,
    kv,
    versions: VERSIONS,
    timings,
  };
}

export function rankedOf(request: RankRequest): RankAnswer {
  const [itemId = '', ...unknown] = request.itemIds;
  const { requestId, historyItems, trimmedItems, skippedItems, fallback, promptTokens } = answerTo({
    ...request,
    ...NO_BEAM,
  });
  const failure = { code: 'ITEM_NOT_FOUND', message: 'expected a live item' } as const;
  return {
    requestId,
    items: [
      { itemId, rank: 1, score: -0.5, ranking: { heads: RANKING.heads, value: RANKING.value } },
      ...unknown.map((id) => ({ itemId: id, rank: 0, failure })),
    ],
    ranking: APPLIED,
    historyItems,
    trimmedItems,
    skippedItems,
    fallback,
    promptTokens,
    prefixReusedTokens: 5,
    kv,
    versions: VERSIONS,
    timings,
  };
}

export function explanationOf({ recall, itemId }: ExplainRequest): ExplainAnswer {
  return {
    requestId: recall.requestId || 'made',
    itemId,
    sid: [3, 1, 4],
    verdict: 'pruned',
    rank: 12,
    step: 1,
    score: -3.5,
    cutScore: -2.25,
    exactRank: 31,
    widthsUsed: [4, 8],
    historyItems: recall.history?.length ?? 0,
    trimmedItems: 0,
    skippedItems: 0,
    fallback: '',
    promptTokens: 9,
    prefixReusedTokens: 5,
    kv,
    versions: VERSIONS,
    timings,
  };
}

const stats = {
  queued: 0,
  running: 0,
  inFlight: 0,
  reserved: 0,
  submitted: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  expired: 0,
  prefillTokens: 0,
  decodeTokens: 0,
  forwardPasses: 0,
  prefixReusedTokens: 0,
  rolledBackTokens: 0,
  predictedUs: 0,
  actualUs: 0,
  expertRows: 0,
  expertPlaces: 0,
  expertsTouched: 0,
  passUs: 0,
  tokenUs: 0,
  tokenPairUs: 0,
  backlogUs: 0,
};

const WEIGHTS_STAY = async () => {
  throw new TesseraError('ADAPTER_STATE', 'weights.path: weights are not updated here');
};
const FIXED_WEIGHTS = {
  current: () => ({ serving: '', previous: '', digest: 'm' }),
  update: WEIGHTS_STAY,
  rollBack: WEIGHTS_STAY,
  perform: WEIGHTS_STAY,
  orderBy: () => undefined,
};

/** A runtime whose recalls the test decides; user `wait` waits until aborted or drained. */
export class FakeRuntime implements RecallRuntime, RecallServing, RecallOperations, RecallFacts {
  readonly serving: RecallServing = this;
  readonly operations: RecallOperations = this;
  readonly facts: RecallFacts = this;
  readonly seen: { request: RecallRequest; context: RecallContext }[] = [];
  readonly explained: { request: ExplainRequest; context: RecallContext }[] = [];
  readonly scored: { request: ScoreRequest; context: RecallContext }[] = [];
  readonly ranked: { request: RankRequest; context: RecallContext }[] = [];
  readonly appended: { request: UserSource; context: RecallContext }[] = [];
  readonly catalogues = [''];
  readonly kvPool = new FakeKvPool();
  readonly erasures = new Erasures();
  /** Resolves when a recall of user `wait` has begun. */
  readonly waiting: Promise<RecallContext>;
  readonly events: string[] = [];
  closes = 0;
  readonly behaviourLog: RecallOperations['behaviourLog'] = undefined;
  readonly checkProfile: RecallOperations['checkProfile'] = () => undefined;
  behaviourReach: RecallFacts['behaviourReach'] = () => ({ state: 'ok', reason: '' });
  readonly popularity = undefined;
  readonly stores: RecallOperations['stores'] = [];
  readonly droppedCaches: RecallFacts['droppedCaches'] = [];
  readonly adapters: RecallOperations['adapters'] = undefined;
  readonly weights = FIXED_WEIGHTS;
  readonly catalogue = new FakeChangingCatalogue([
    { itemId: 'a', sid: [3, 1, 4], title: 'Tëst', attributes: '{"n":1}' },
  ]);
  readonly changes = new CatalogueChanges(this.catalogue, {
    ...CHANGES_NOT_KEPT,
    bundle: BundleLabel.unkept('u1'),
  });
  private announce: (context: RecallContext) => void = () => undefined;
  private release: () => void = () => undefined;

  readonly summary = {
    model: {
      path: '',
      family: 'qwen3',
      vocabSize: 1,
      encoderLayerCount: 0,
      startToken: 0,
      hiddenSize: 1,
      layerCount: 1,
      maxPositions: 1,
      parameterCount: 1,
      digest: 'm',
      computeType: 'f32' as const,
      kvBytesPerPosition: 1,
      slotBytes: 1,
      stateBytes: 0,
      headSize: 1,
      weightBytes: 0,
      instructionSet: 'portable',
    },
    catalogue: { digest: 'c', itemCount: 1, pathCount: 1, depth: 3, fileBytes: 1 },
    promptTemplate: { name: 'fake', digest: 'p' },
    userCount: 1,
  };

  constructor() {
    this.waiting = new Promise((resolve) => {
      this.announce = resolve;
    });
  }

  async recall(request: RecallRequest, context: RecallContext): Promise<RecallAnswer> {
    this.seen.push({ request, context });
    if (request.userId === 'throw') throw new RangeError('a secret');
    if (request.userId === 'nobody') {
      throw new TesseraError('USER_NOT_FOUND', "userId: 'nobody' is not known", {
        field: 'userId',
      });
    }
    if (request.valuation?.name === 'nosuch') {
      const message = "valuation.name: expected one of clicks, got 'nosuch'";
      throw new TesseraError('REQUEST_INVALID', message, { field: 'valuation.name' });
    }
    if (request.userId === 'busy') {
      throw new TesseraError('ENGINE_OVERLOADED', 'the queue is full', { retryAfterMs: 1500 });
    }
    if (request.userId === 'wait') await this.wait(context);
    return answerTo(request);
  }

  async pin(_request: RecallRequest, sequence: number) {
    return { sequence, cappedItems: 0 };
  }

  async score(request: ScoreRequest, context: RecallContext): Promise<ScoreAnswer> {
    this.scored.push({ request, context });
    return scoresOf(request);
  }

  async rank(request: RankRequest, context: RecallContext): Promise<RankAnswer> {
    this.ranked.push({ request, context });
    return rankedOf(request);
  }

  async explain(request: ExplainRequest, context: RecallContext): Promise<ExplainAnswer> {
    this.explained.push({ request, context });
    return explanationOf(request);
  }

  async user(userId: string) {
    if (userId === 'nobody') return null;
    const behaviours = [{ itemId: 'a', action: 'click', time: 1_700_000_000 }];
    return { behaviours, profile: { age: '3' } };
  }

  describe(itemIds: readonly string[], catalogue = '') {
    this.changesOf(catalogue);
    return itemIds.map((itemId) =>
      itemId === 'a' ? { itemId, title: 'Tëst', attributes: '{"n":1}', sid: [3, 1, 4] } : undefined,
    );
  }

  changesOf(name: string): CatalogueChanges {
    if (name === '') return this.changes;
    throw new TesseraError('REQUEST_INVALID', `catalogue: expected '', got '${name}'`, {
      field: 'catalogue',
    });
  }

  private wait(context: RecallContext): Promise<void> {
    return new Promise((resolve, reject) => {
      context.signal.addEventListener('abort', () => {
        this.events.push('aborted');
        reject(new TesseraError('CANCELLED', 'the caller went away'));
      });
      this.release = resolve;
      this.announce(context);
    });
  }

  async append(request: UserSource, context: RecallContext): Promise<AppendAnswer> {
    this.appended.push({ request, context });
    const { historyItems, trimmedItems, skippedItems } = answerTo({ ...request, ...NO_BEAM });
    const requestId = request.requestId || 'made';
    return { requestId, historyItems, trimmedItems, skippedItems, keptTokens: 8, kv };
  }

  forgetUser(userId: string): Promise<void> {
    return this.kvPool.dropUser(userId);
  }

  forecast() {
    const idle = { waitUs: 0, turnUs: 0 };
    return { classes: [idle, idle, idle] };
  }

  engineStats() {
    return stats;
  }

  heldWhileIdle() {
    return { ...NOTHING_HELD, underway: 0 };
  }

  async sampleUserIds(): Promise<readonly string[]> {
    return ['1'];
  }

  async drain(): Promise<void> {
    this.events.push('drain');
    this.release();
  }

  async close(): Promise<void> {
    this.events.push('close');
    this.closes += 1;
  }
}
