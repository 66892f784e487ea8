import {
  type Binding,
  type Catalogue,
  Engine,
  type EngineAdapter,
  type EngineAnswer,
  type EngineAppended,
  type EngineAppendRequest,
  type EngineForecast,
  type EngineHeld,
  type EngineLogits,
  type EngineModel,
  type EnginePath,
  type EngineRanked,
  type EngineRanking,
  type EngineRankRequest,
  type EngineRequest,
  type EngineScoreRequest,
  type EngineScores,
  type EngineStats,
  type EngineUpdate,
  type KvPrefetch,
  type LevelTokens,
  NOTHING_FOUND,
} from '@tessera/engine';
import { type Cancellation, TesseraError } from '@tessera/errors';
import type { FakeReach } from './fake-catalogue.js';
import { certificateOf, fateOf, returnedOf } from './fake-fate.js';
import { FakeKvPool } from './fake-kv-pool.js';

/** Score of a path, given the prompt. */
export type PathScore = (sid: readonly number[], prompt: Int32Array) => number;

/** Prefers SIDs near the last token of the prompt; any fixed rule would do. */
const defaultScore: PathScore = (sid, prompt) =>
  -sid.reduce((sum, code) => sum + Math.abs(code - ((prompt.at(-1) ?? 0) % 7)), 0) - 1;

const NOTHING_DRAWN = { pace: 1, criticalBid: Number.NaN, explored: false, propensity: 1 };

const TIMINGS = {
  queueUs: 1,
  planUs: 7,
  prefillUs: 2,
  decodeUs: 3,
  projectionsUs: 3,
  attentionUs: 1,
  headUs: 4,
  selectUs: 5,
  forkUs: 8,
  exportUs: 6,
  totalUs: 36,
};

export interface FakeEngineOptions {
  readonly maxPositions?: number;
  readonly score?: PathScore;
  /** Heads of every adapter that is loaded. */
  readonly heads?: readonly string[];
}

/** Head h says 1 / (2 + h + ordinal) of an item. */
function headsOf(
  ranking: EngineRanking | undefined,
  items: readonly { readonly ordinal: number }[],
): Float32Array {
  const { heads = [] } = ranking?.adapter ?? {};
  const said = items.flatMap(({ ordinal }) => heads.map((_, head) => 1 / (2 + head + ordinal)));
  return Float32Array.from(said);
}

/** The engine port by brute force: scores every path of the catalogue. Keeps what it was asked. */
export class FakeEngine extends Engine {
  model: EngineModel;
  private updates = 0;
  readonly requests: EngineRequest[] = [];
  readonly scoreRequests: EngineScoreRequest[] = [];
  readonly rankRequests: EngineRankRequest[] = [];
  readonly appendRequests: EngineAppendRequest[] = [];
  readonly bound: LevelTokens[] = [];
  /** Users, in the order of their prefetches; a ticket is 1 + the index. */
  readonly prefetched: string[] = [];
  /** Tickets of prefetches that were given up. */
  readonly released: number[] = [];
  private readonly reserved = new Set<number>();
  /** Loaded and not released; the digest of each is its folder. */
  readonly adapters = new Set<EngineAdapter>();
  /** Digest and predecessor's digest. */
  readonly successions: (readonly [string, string])[] = [];
  readonly kvPool = new FakeKvPool();
  draining = false;
  closeCount = 0;
  /** While set, recalls wait for it (or for their signal). */
  gate: Promise<void> | undefined;
  private cancelledCount = 0;

  constructor(private readonly options: FakeEngineOptions = {}) {
    super();
    this.model = {
      family: 'fake',
      vocabSize: 100_000,
      hiddenSize: 8,
      layerCount: 1,
      encoderLayerCount: 0,
      startToken: 0,
      maxPositions: options.maxPositions ?? 1024,
      parameterCount: 64,
      digest: 'fake-model',
      computeType: 'f32',
      kvBytesPerPosition: 64,
      slotBytes: 64,
      stateBytes: 0,
      headSize: 100_000,
      weightBytes: 0,
      instructionSet: 'portable',
    };
  }

  bind(catalogue: Catalogue, tokens: LevelTokens): Binding {
    this.bound.push(tokens);
    return { slot: this.bound.length - 1, catalogue };
  }

  unbind(binding: Binding): void {
    this.bound.splice(binding.slot, 1);
  }

  async recall(request: EngineRequest, signal?: Cancellation): Promise<EngineAnswer> {
    this.requests.push(request);
    await this.admitted(request, signal);
    return this.answer(request);
  }

  async score(request: EngineScoreRequest, signal?: Cancellation): Promise<EngineScores> {
    this.scoreRequests.push(request);
    await this.admitted(request, signal);
    const { catalogue } = request.binding;
    const ordinals = Uint32Array.from({ length: catalogue.summary.itemCount }, (_, i) => i);
    const known = new Set(
      catalogue
        .view()
        .sids(ordinals)
        .map((sid) => sid.join()),
    );
    const rule = this.options.score ?? defaultScore;
    const scores = request.sids.map((sid) =>
      known.has(sid.join()) ? rule(sid, request.promptTokens) : undefined,
    );
    return {
      scores,
      modelDigest: this.model.digest,
      catalogueSequence: 0,
      prefixReusedTokens: 0,
      kv: NOTHING_FOUND,
      timings: TIMINGS,
    };
  }

  async rank(request: EngineRankRequest, signal?: Cancellation): Promise<EngineRanked> {
    this.rankRequests.push(request);
    await this.admitted(request, signal);
    return {
      heads: headsOf(
        request.ranking,
        Array.from(request.items, (ordinal) => ({ ordinal })),
      ),
      modelDigest: this.model.digest,
      catalogueSequence: request.reach.sequence,
      prefixReusedTokens: 0,
      kv: NOTHING_FOUND,
      timings: TIMINGS,
    };
  }

  relevance(): readonly Promise<EngineLogits>[] {
    throw new TesseraError('INTERNAL', 'relevance: expected an engine with a model');
  }

  async append(request: EngineAppendRequest, signal?: Cancellation): Promise<EngineAppended> {
    this.appendRequests.push(request);
    await this.admitted(request, signal);
    return { kv: NOTHING_FOUND, prefixReusedTokens: 0 };
  }

  prefetch(_binding: Binding, userId: string): KvPrefetch {
    const ticket = this.prefetched.push(userId);
    this.reserved.add(ticket);
    const release = () => {
      if (this.reserved.delete(ticket)) this.released.push(ticket);
    };
    return { ticket, release };
  }

  held(): EngineHeld {
    const prefetches = this.reserved.size;
    const reservedTickets = prefetches;
    return { tickets: 0, reservedTickets, inFlight: 0, prefetches, leases: 0 };
  }

  async loadAdapter(folder: string): Promise<EngineAdapter> {
    const adapter = {
      digest: folder,
      bytes: 1,
      rankMax: 1,
      targetCount: 1,
      replacedRows: 0,
      largestNorm: 1,
      heads: this.options.heads ?? [],
      isActivated: false,
    };
    this.adapters.add(adapter);
    return adapter;
  }

  releaseAdapter(adapter: EngineAdapter): void {
    if (!this.adapters.delete(adapter)) throw new TesseraError('INTERNAL', 'adapter: not loaded');
  }

  succeedAdapter(adapter: EngineAdapter, predecessor: EngineAdapter): void {
    this.successions.push([adapter.digest, predecessor.digest]);
  }

  adapterArena() {
    const adapters = this.adapters.size;
    return { usedBytes: adapters, maxBytes: Number.MAX_SAFE_INTEGER, adapters };
  }

  private async admitted(
    { kv }: EngineAppendRequest,
    signal: Cancellation | undefined,
  ): Promise<void> {
    this.reserved.delete(kv?.prefetch?.ticket ?? 0);
    if (this.draining) throw new TesseraError('ENGINE_UNAVAILABLE', 'the engine is draining');
    if (this.gate !== undefined) await this.opened(this.gate, signal);
  }

  /** The folder's name becomes the digest. */
  async updateWeights(folder: string): Promise<EngineUpdate> {
    this.model = { ...this.model, digest: folder };
    this.updates += 1;
    return { digest: folder, generation: this.updates, drainedUs: 0, swappedUs: 0 };
  }

  forecast(): EngineForecast {
    const idle = { waitUs: 0, turnUs: 0 };
    return { classes: [idle, idle, idle] };
  }

  stats(): EngineStats {
    return {
      queued: 0,
      running: 0,
      inFlight: 0,
      reserved: 0,
      submitted: this.requests.length,
      completed: this.requests.length - this.cancelledCount,
      failed: 0,
      cancelled: this.cancelledCount,
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
  }

  async drain(): Promise<void> {
    this.draining = true;
  }

  async close(): Promise<void> {
    this.closeCount += 1;
  }

  private async opened(gate: Promise<void>, signal: Cancellation | undefined): Promise<void> {
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => {
        this.cancelledCount += 1;
        reject(new TesseraError('CANCELLED', 'the request was cancelled'));
      });
    });
    await Promise.race([gate, aborted]);
  }

  private answer(request: EngineRequest) {
    const { promptTokens, resultCount, itemsPerSid, widths, attributes = [] } = request;
    const { catalogue } = request.binding;
    const denied = (request.reach as FakeReach | undefined)?.denied ?? [];
    const all = Uint32Array.from({ length: catalogue.summary.itemCount }, (_, i) => i);
    const described = catalogue.view().items(all);
    const ordinals = all.filter((i) => !denied.includes(described[i]?.itemId ?? ''));
    const bySid = new Map<string, { path: EnginePath; ordinals: number[] }>();
    catalogue
      .view()
      .sids(ordinals)
      .forEach((sid, index) => {
        const ordinal = ordinals[index] as number;
        const score = (this.options.score ?? defaultScore)(sid, promptTokens);
        const entry = bySid.get(sid.join()) ?? { path: { sid, score }, ordinals: [] };
        entry.ordinals.push(ordinal);
        bySid.set(sid.join(), entry);
      });
    const ranked = [...bySid.values()].sort(
      (a, b) => b.path.score - a.path.score || (a.path.sid.join() < b.path.sid.join() ? -1 : 1),
    );
    const rows = request.rowBudget || widths.at(-1);
    const kept = ranked.slice(0, rows);
    const countOf = (cap: number) =>
      kept.reduce((count, { ordinals: own }) => count + Math.min(own.length, cap), 0);
    let cap = Math.max(itemsPerSid, 1);
    while (itemsPerSid === 0 && cap < resultCount && countOf(cap) < resultCount) cap *= 2;
    const items = kept.flatMap(({ path, ordinals: own }, index) =>
      own.slice(0, cap).map((ordinal) => ({
        ordinal,
        itemId: described[ordinal]?.itemId ?? '',
        title: described[ordinal]?.title ?? '',
        attributes: attributes.length > 0 ? (described[ordinal]?.attributes ?? '{}') : '',
        score: path.score,
        path: index,
        value: path.score,
        ...NOTHING_DRAWN,
      })),
    );
    const { returned, ...worth } = returnedOf(request, items);
    return {
      items: returned,
      itemsPerSid: cap,
      leftOutByDiversity: 0,
      completeness: 'whole' as const,
      ...certificateOf(ranked[kept.length]?.path.score, returned.length === resultCount),
      rows: kept.length,
      ...worth,
      fate: fateOf(request.watchedItem, returned),
      paths: kept.map(({ path }) => path),
      modelDigest: this.model.digest,
      catalogueSequence: 0,
      widthsUsed: catalogue.summary.levelSizes.map(() => kept.length),
      prefixReusedTokens: 0,
      kv: NOTHING_FOUND,
      timings: TIMINGS,
      passes: [],
      heads: headsOf(request.ranking, returned),
    };
  }
}
