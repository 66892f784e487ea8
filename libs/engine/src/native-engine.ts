import { type Cancellation, isErrorCode, TesseraError } from '@tessera/errors';
import {
  type AdapterArena,
  type AdapterLimits,
  type EngineHandle,
  type EngineStats,
  PackedReader,
  PackedWriter,
  REQUEST_KINDS,
  readAnswerFacts,
  readCompletionHead,
  readFailure,
  writeRequestHead,
  writeRequestWork,
} from '@tessera/native';
import { turns } from '@tessera/turns';
import { addon } from './addon.js';
import { compileBinding } from './compile-binding.js';
import {
  type Binding,
  type Catalogue,
  Engine,
  type EngineAdapter,
  type EngineAnswer,
  type EngineAppended,
  type EngineAppendRequest,
  type EngineModel,
  type EngineOptions,
  type EngineRequest,
  type EngineScoreRequest,
  type EngineScores,
  type EngineUpdate,
  type LevelTokens,
  type PromptDigests,
} from './engine.js';
import { type KvPool, type KvPrefetch, kvOff } from './kv-pool.js';
import { NativeAdapters } from './native-adapters.js';
import { NativeCatalogue, NativeReach } from './native-catalogue.js';
import { awaitNative, callNative } from './native-error.js';
import { kvFields, NativeKvPool } from './native-kv-pool.js';
import { APPEND, RECALL, type RequestKind, SCORE } from './request-kinds.js';

/** Members of every kind of request. */
type EngineAsk = EngineAppendRequest;

/** Settled with what the completion goes on with behind its head. */
interface Waiting {
  readonly kind: RequestKind<never, unknown>;
  resolve(completion: PackedReader): void;
  reject(error: TesseraError): void;
}

const US_PER_MS = 1000;
/** An answer waits to be read for one update at most: nobody runs while weights change. */
const GENERATIONS_KEPT = 8;
const TICKETS = 2 ** 32;

/** Requests still waiting for their completion, by ticket. */
class Tickets {
  readonly waiting = new Map<number, Waiting>();
  /** Of requests that are still being made. */
  readonly reserved = new Set<number>();
  private next = 1;

  /** A ticket that nobody else has. */
  take(): number {
    while (this.waiting.has(this.next) || this.reserved.has(this.next)) this.step();
    const ticket = this.next;
    this.step();
    return ticket;
  }

  private step(): void {
    this.next = (this.next + 1) % TICKETS;
  }

  /** A pass may complete a hundred requests: each is settled in its turn of the event loop. */
  settle(words: Uint32Array, codes: readonly string[]): void {
    const completions = new PackedReader(words);
    for (const first of completions.records()) {
      const { ticket } = readCompletionHead(completions.open(first));
      const waiting = this.waiting.get(ticket);
      this.waiting.delete(ticket);
      if (waiting !== undefined) {
        turns.answer(() => settleOne(waiting, completions.open(first), codes));
      }
    }
  }
}

function settleOne(waiting: Waiting, completion: PackedReader, codes: readonly string[]): void {
  const { status, kind } = readCompletionHead(completion);
  const code = codes[status] ?? 'INTERNAL';
  if (code === 'OK' && REQUEST_KINDS[kind] === waiting.kind.name) {
    waiting.resolve(completion);
    return;
  }
  if (code === 'OK') {
    const message = `completion: expected one of ${waiting.kind.name}, got kind ${kind}`;
    waiting.reject(new TesseraError('INTERNAL', message));
    return;
  }
  const { message, retryAfterUs } = readFailure(completion);
  waiting.reject(
    new TesseraError(isErrorCode(code) ? code : 'INTERNAL', message, retryHint(retryAfterUs)),
  );
}

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
  ) {
    super();
    this.opened = callNative(() => addon().engineModel(handle));
    this.digests.set(0, this.opened.digest);
    this.kvPool = new NativeKvPool(handle);
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
    const { kv, adapterBytesMax = 0, device = 'cpu', ...options } = given;
    const tickets = new Tickets();
    const { codes } = addon().describeAbi();
    const handle = await awaitNative(() =>
      addon().engineOpen(
        { ...options, device, adapterBytesMax, ...kvFields(kv ?? kvOff(options.kvBytesMax)) },
        (words) => tickets.settle(words, codes),
      ),
    );
    return new NativeEngine(handle, tickets);
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
        if (this.tickets.reserved.delete(ticket)) this.cancel(ticket);
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
    const waitUs = Math.max(0, waitMaxMs) * US_PER_MS;
    const update = await awaitNative(() =>
      addon().engineUpdateWeights(this.handle, folder, waitUs),
    );
    this.know(update);
    return update;
  }

  stats(): EngineStats {
    return callNative(() => addon().engineStats(this.handle));
  }

  async drain(budgetMs: number): Promise<void> {
    await awaitNative(() => addon().engineDrain(this.handle, Math.max(0, budgetMs) * 1000));
  }

  close(): Promise<void> {
    this.closing ??= awaitNative(() => addon().engineClose(this.handle));
    return this.closing;
  }

  private async run<Request extends EngineAsk, Answer>(
    kind: RequestKind<Request, Answer>,
    request: Request,
    signal: Cancellation | undefined,
  ): Promise<Answer> {
    if (hasAborted(signal)) throw cancelled();
    const ticket = this.ticketOf(request);
    const answer = new Promise<Answer>((resolve, reject) => {
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
    try {
      this.submit(ticket, kind, request);
    } catch (thrown) {
      this.tickets.waiting.delete(ticket);
      this.cancel(ticket);
      throw thrown;
    }
    const onAbort = (): void => this.cancel(ticket);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const settled = await answer;
      // The answer may have been on its way when the caller went: it still gets what it asked
      // for.
      if (hasAborted(signal)) throw cancelled();
      return settled;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
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

  private submit<Request extends EngineAsk>(
    ticket: number,
    kind: RequestKind<Request, unknown>,
    request: Request,
  ): void {
    const reach = kind.reach(request);
    if (reach !== undefined && !(reach instanceof NativeReach)) {
      throw new TesseraError('INTERNAL', "reach: expected one of the binding's catalogue");
    }
    const { out } = this;
    out.reset();
    out.begin();
    writeRequestHead(out, {
      ticket,
      kind: kind.name,
      binding: request.binding.slot,
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
    kind.write(out, request);
    out.end();
    const reaches = [reach?.handle ?? null];
    const outcome = callNative(() =>
      addon().engineSubmit(this.handle, out.words, out.length, reaches),
    );
    if (outcome.accepted === 1) return;
    if (outcome.reason === 'queue-full') {
      throw new TesseraError(
        'ENGINE_OVERLOADED',
        'the queue of the engine is full',
        retryHint(outcome.retryAfterUs),
      );
    }
    throw new TesseraError('ENGINE_UNAVAILABLE', 'the engine is draining');
  }

  /**
   * The completion itself tells that the work has ended; a closed engine has completed everything
   * already.
   */
  private cancel(ticket: number): void {
    if (this.closing !== undefined) return;
    callNative(() => addon().engineCancel(this.handle, Uint32Array.of(ticket)));
  }
}

/** A call, so that the compiler does not take an earlier look for a later one. */
function hasAborted(signal: Cancellation | undefined): boolean {
  return signal?.aborted === true;
}

/** The engine's hint, rounded up; none where it gave none. */
function retryHint(retryAfterUs: number): { readonly retryAfterMs?: number } {
  return retryAfterUs === 0 ? {} : { retryAfterMs: Math.ceil(retryAfterUs / US_PER_MS) };
}

function cancelled(): TesseraError {
  return new TesseraError('CANCELLED', 'the request was cancelled');
}
