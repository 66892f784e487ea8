import { type Cancellation, TesseraError } from '@tessera/errors';
import {
  type AdapterArena,
  type AdapterLimits,
  type EngineForecast,
  type EngineHandle,
  type EngineStats,
  NOTHING,
  PackedWriter,
  readAnswerFacts,
  writeRequestHead,
  writeRequestWork,
} from '@tessera/native';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import { addon } from './addon.js';
import { type Catalogue } from './catalogue.js';
import { compileBinding } from './compile-binding.js';
import {
  type Binding,
  Engine,
  type EngineAdapter,
  type EngineAnswer,
  type EngineAppended,
  type EngineAppendRequest,
  type EngineHeld,
  type EngineLogits,
  type EngineModel,
  type EngineRanked,
  type EngineRankRequest,
  type EngineRelevanceRequest,
  type EngineRequest,
  type EngineScoreRequest,
  type EngineScores,
  type EngineUpdate,
  type LevelTokens,
  type PromptDigests,
} from './engine.js';
import type { EngineOptions } from './engine-options.js';
import { type KvPool, type KvPrefetch, type KvSharing, kvOff } from './kv-pool.js';
import { NativeAdapters } from './native-adapters.js';
import { NativeCatalogue, NativeReach } from './native-catalogue.js';
import { awaitNative, callNative } from './native-error.js';
import { kvFields, NativeKvPool } from './native-kv-pool.js';
import { APPEND, RANK, RECALL, RELEVANCE, type RequestKind, SCORE } from './request-kinds.js';
import { retryHint, Tickets } from './tickets.js';

/** Members of every kind of request. */
type EngineAsk = Omit<EngineAppendRequest, 'binding'> & { readonly binding?: Binding };

/** An answer waits to be read for one update at most: nobody runs while weights change. */
const GENERATIONS_KEPT = 8;
/**
 * The engine in this process. Turns tickets into promises; holds no state of the requests itself.
 */
export class NativeEngine extends Engine {
  readonly kvPool: KvPool;
  private readonly adapters: NativeAdapters;
  private readonly opened: EngineModel;
  /** Digests of the newest weights by the number of updates before them. */
  private readonly digests = new Map<number, string>();
  /** Its memory is used again by each request. */
  private readonly out = new PackedWriter();
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly handle: EngineHandle,
    private readonly tickets: Tickets,
    sharing: KvSharing | undefined,
  ) {
    super();
    this.opened = callNative(() => addon().engineModel(handle));
    this.digests.set(0, this.opened.digest);
    this.kvPool = new NativeKvPool(handle, sharing);
    this.adapters = new NativeAdapters(handle);
  }

  get model(): EngineModel {
    return { ...this.opened, digest: [...this.digests.values()].at(-1) ?? '' };
  }

  /**
   * Loads the model and opens the pool. Rejects with MODEL_NOT_FOUND, MODEL_INVALID, MODEL_CORRUPT,
   * KV_POOL_INVALID, KV_STORE_INVALID, KV_STORE_CORRUPT or REQUEST_INVALID; with ENGINE_UNAVAILABLE
   * where there is no such device, ENGINE_OVERLOADED where its memory does not suffice.
   */
  static async open(given: EngineOptions): Promise<NativeEngine> {
    const { kv, ...options } = given;
    const { adapterBytesMax = 0, device = 'cpu', headTokens = new Int32Array() } = options;
    const kvOptions = kvFields(kv ?? kvOff(options.kvBytesMax));
    const tickets = new Tickets();
    const { codes } = addon().describeAbi();
    const handle = await awaitNative(() =>
      addon().engineOpen(
        { ...options, device, adapterBytesMax, headTokens, ...kvOptions },
        (words) => tickets.settle(words, codes),
      ),
    );
    return new NativeEngine(handle, tickets, kv?.sharing);
  }

  bind(catalogue: Catalogue, tokens: LevelTokens, digests?: PromptDigests): Binding {
    if (!(catalogue instanceof NativeCatalogue)) {
      throw new TesseraError('INTERNAL', 'catalogue: expected one opened by openCatalogue()');
    }
    const slot = callNative(() =>
      addon().engineBind(this.handle, catalogue.handle, compileBinding(tokens, digests)),
    );
    return { slot, catalogue };
  }

  unbind(binding: Binding): void {
    callNative(() => addon().engineUnbind(this.handle, binding.slot));
  }

  recall(request: EngineRequest, signal?: Cancellation): Promise<EngineAnswer> {
    return this.run(RECALL, request, signal);
  }

  score(request: EngineScoreRequest, signal?: Cancellation): Promise<EngineScores> {
    return this.run(SCORE, request, signal);
  }

  rank(request: EngineRankRequest, signal?: Cancellation): Promise<EngineRanked> {
    return this.run(RANK, request, signal);
  }

  relevance(
    requests: readonly EngineRelevanceRequest[],
    signal?: Cancellation,
  ): readonly Promise<EngineLogits>[] {
    return this.runAll(RELEVANCE, requests, signal);
  }

  append(request: EngineAppendRequest, signal?: Cancellation): Promise<EngineAppended> {
    return this.run(APPEND, request, signal);
  }

  prefetch(binding: Binding, userId: string, adapter?: EngineAdapter): KvPrefetch {
    const slot = this.adapters.slotOf(adapter);
    const ticket = this.tickets.take();
    callNative(() => addon().enginePrefetch(this.handle, ticket, binding.slot, userId, slot));
    this.tickets.reserved.add(ticket);
    return {
      ticket,
      release: () => {
        if (this.tickets.reserved.delete(ticket)) this.cancel([ticket]);
      },
    };
  }

  loadAdapter(folder: string, limits: AdapterLimits): Promise<EngineAdapter> {
    return this.adapters.load(folder, limits);
  }

  releaseAdapter(adapter: EngineAdapter): void {
    this.adapters.release(adapter);
  }

  succeedAdapter(adapter: EngineAdapter, predecessor: EngineAdapter): void {
    this.adapters.succeed(adapter, predecessor);
  }

  adapterArena(): AdapterArena {
    return this.adapters.arena();
  }

  async updateWeights(folder: string, waitMaxMs: number): Promise<EngineUpdate> {
    const waitUs = Math.max(0, waitMaxMs) * MICROSECONDS_PER_MILLISECOND;
    const update = await awaitNative(() =>
      addon().engineUpdateWeights(this.handle, folder, waitUs),
    );
    this.know(update);
    return update;
  }

  held(): EngineHeld {
    const { inFlight, reserved } = this.stats();
    const { leases, prefetching } = this.kvPool.metrics();
    const { waiting, reserved: reservedTickets } = this.tickets;
    return {
      tickets: waiting.size,
      reservedTickets: reservedTickets.size,
      inFlight,
      prefetches: Math.max(reserved, prefetching),
      leases,
    };
  }

  stats(): EngineStats {
    return callNative(() => addon().engineStats(this.handle));
  }

  forecast(): EngineForecast {
    return callNative(() => addon().engineForecast(this.handle));
  }

  async drain(budgetMs: number): Promise<void> {
    await awaitNative(() => addon().engineDrain(this.handle, Math.max(0, budgetMs) * 1000));
  }

  close(): Promise<void> {
    this.closing ??= awaitNative(() => addon().engineClose(this.handle));
    return this.closing;
  }

  private run<Request extends EngineAsk, Answer>(
    kind: RequestKind<Request, Answer>,
    request: Request,
    signal: Cancellation | undefined,
  ): Promise<Answer> {
    const [answer] = this.runAll(kind, [request], signal);
    return answer as Promise<Answer>;
  }

  /** Submitted together; each settles alone, in the order given. */
  private runAll<Request extends EngineAsk, Answer>(
    kind: RequestKind<Request, Answer>,
    requests: readonly Request[],
    signal: Cancellation | undefined,
  ): readonly Promise<Answer>[] {
    if (requests.length === 0) return [];
    const tickets = requests.map((request) => this.ticketOf(request));
    if (hasAborted(signal)) {
      this.cancel(tickets);
      return requests.map(() => Promise.reject(cancelled()));
    }
    const answers = tickets.map((ticket) => this.awaited(ticket, kind));
    try {
      this.submit(tickets, kind, requests);
    } catch (thrown) {
      for (const ticket of tickets) this.refuse(ticket, thrown);
    }
    let left = answers.length;
    const onAbort = (): void => this.cancel(tickets);
    const onEnded = (): void => {
      left -= 1;
      if (left === 0) signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    return answers.map((answer) => ended(answer, signal, onEnded));
  }

  private awaited<Answer>(ticket: number, kind: RequestKind<never, Answer>): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      this.tickets.waiting.set(ticket, {
        kind,
        resolve: (completion) => {
          const facts = readAnswerFacts(completion);
          const modelDigest = this.digestOf(facts.weightsGeneration);
          resolve(kind.read(completion, { ...facts, modelDigest }));
        },
        reject,
      });
    });
  }

  /** Rejects a request that the engine has not taken. */
  private refuse(ticket: number, reason: unknown): void {
    const waiting = this.tickets.waiting.get(ticket);
    if (!this.tickets.waiting.delete(ticket)) return;
    this.cancel([ticket]);
    waiting?.reject(reason);
  }

  /**
   * An answer may come before the promise of the update that it was computed after: then no further
   * update can have begun.
   */
  private digestOf(generation: number): string {
    if (!this.digests.has(generation)) {
      const serving = callNative(() => addon().engineWeights(this.handle));
      this.know(serving);
    }
    return this.digests.get(generation) ?? '';
  }

  private know({ generation, digest }: Pick<EngineUpdate, 'generation' | 'digest'>): void {
    this.digests.set(generation, digest);
    for (const known of this.digests.keys()) {
      if (known + GENERATIONS_KEPT <= generation) this.digests.delete(known);
    }
  }

  /** The one of its prefetch, which is the request's from now on. */
  private ticketOf({ kv }: EngineAsk): number {
    const ticket = kv?.prefetch?.ticket;
    return ticket !== undefined && this.tickets.reserved.delete(ticket)
      ? ticket
      : this.tickets.take();
  }

  /** Submits requests; those that are not taken are refused. */
  private submit<Request extends EngineAsk>(
    tickets: readonly number[],
    kind: RequestKind<Request, unknown>,
    requests: readonly Request[],
  ): void {
    const { out } = this;
    const reaches = requests.map((request) => reachOf(kind, request)?.handle ?? null);
    out.reset();
    for (const [i, request] of requests.entries()) {
      this.write(tickets[i] as number, kind, request);
    }
    const { accepted, reason, retryAfterUs } = callNative(() =>
      addon().engineSubmit(this.handle, out.words, out.length, reaches),
    );
    if (accepted === requests.length) return;
    const error =
      reason === 'queue-full'
        ? new TesseraError(
            'ENGINE_OVERLOADED',
            'the queue of the engine is full',
            retryHint(retryAfterUs),
          )
        : new TesseraError('ENGINE_UNAVAILABLE', 'the engine is draining');
    for (const ticket of tickets.slice(accepted)) this.refuse(ticket, error);
  }

  private write<Request extends EngineAsk>(
    ticket: number,
    kind: RequestKind<Request, unknown>,
    request: Request,
  ): void {
    const { out } = this;
    out.begin();
    writeRequestHead(out, {
      ticket,
      kind: kind.name,
      binding: request.binding?.slot ?? NOTHING.binding,
      adapter: this.adapters.slotOf(request.adapter),
      budgetUs: request.budgetUs,
    });
    writeRequestWork(out, {
      priority: request.priority,
      promptTokens: request.promptTokens,
      userId: request.kv?.userId ?? '',
      prefixTokens: request.kv?.prefixTokens ?? 0,
      keepTokens: request.kv?.keepTokens ?? 0,
      wantsExactKv: request.kv?.wantsExact === true,
    });
    kind.write(out, request, (adapter) => this.adapters.slotOf(adapter));
    out.end();
  }

  /**
   * The completion itself tells that the work has ended; a closed engine has completed everything
   * already.
   */
  private cancel(tickets: readonly number[]): void {
    if (this.closing !== undefined) return;
    callNative(() => addon().engineCancel(this.handle, Uint32Array.from(tickets)));
  }
}

function reachOf<Request>(
  kind: RequestKind<Request, unknown>,
  request: Request,
): NativeReach | undefined {
  const reach = kind.reach(request);
  if (reach === undefined || reach instanceof NativeReach) return reach;
  throw new TesseraError('INTERNAL', "reach: expected one of the binding's catalogue");
}

async function ended<Answer>(
  answer: Promise<Answer>,
  signal: Cancellation | undefined,
  onEnded: () => void,
): Promise<Answer> {
  try {
    const settled = await answer;
    // The answer may have been on its way when the caller went: it still gets what it asked for.
    if (hasAborted(signal)) throw cancelled();
    return settled;
  } finally {
    onEnded();
  }
}

/** A call, so that the compiler does not take an earlier look for a later one. */
function hasAborted(signal: Cancellation | undefined): boolean {
  return signal?.aborted === true;
}

function cancelled(): TesseraError {
  return new TesseraError('CANCELLED', 'the request was cancelled');
}
