import { isErrorCode, TesseraError } from '@tessera/errors';
import {
  type Completions,
  type EngineHandle,
  type EngineOptions,
  STATS_SLOTS,
} from '@tessera/native';
import { addon } from './addon.js';
import {
  type Binding,
  type Catalogue,
  Engine,
  type EngineAnswer,
  type EngineModel,
  type EngineRequest,
  type EngineScoreRequest,
  type EngineScores,
  type EngineStats,
  type LevelTokens,
} from './engine.js';
import { NativeCatalogue, NativeReach } from './native-catalogue.js';
import { awaitNative, callNative } from './native-error.js';
import { readAnswer, readScores } from './read-completions.js';
import { compileBatch, compileBinding } from './submit-batch.js';

/** Settled with the completion's arrays and its index in them; `resolve` reads what was asked. */
interface Waiting {
  resolve(completions: Completions, index: number): void;
  reject(error: TesseraError): void;
}

const US_PER_MS = 1000;
const TICKETS = 2 ** 32;

/** Requests still waiting for their completion, by ticket. */
class Tickets {
  readonly waiting = new Map<number, Waiting>();
  private next = 1;

  add(waiting: Waiting): number {
    while (this.waiting.has(this.next)) this.next = (this.next + 1) % TICKETS;
    const ticket = this.next;
    this.next = (this.next + 1) % TICKETS;
    this.waiting.set(ticket, waiting);
    return ticket;
  }

  settle(completions: Completions, codes: readonly string[]): void {
    for (const [i, ticket] of completions.tickets.entries()) {
      const waiting = this.waiting.get(ticket);
      this.waiting.delete(ticket);
      const code = codes[completions.statuses[i] ?? 0] ?? 'INTERNAL';
      if (code === 'OK') {
        waiting?.resolve(completions, i);
      } else {
        const message = completions.messages[i] ?? '';
        const retryAfterUs = completions.retryAfterUs[i] ?? 0;
        waiting?.reject(
          new TesseraError(isErrorCode(code) ? code : 'INTERNAL', message, retryHint(retryAfterUs)),
        );
      }
    }
  }
}

/**
 * The engine in this process. Turns tickets into promises; holds no state of the requests itself.
 */
export class NativeEngine extends Engine {
  readonly model: EngineModel;
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly handle: EngineHandle,
    private readonly tickets: Tickets,
  ) {
    super();
    this.model = callNative(() => addon().engineModel(handle));
  }

  /**
   * Loads the model. Rejects with MODEL_NOT_FOUND, MODEL_INVALID, MODEL_CORRUPT or REQUEST_INVALID.
   */
  static async open(options: EngineOptions): Promise<NativeEngine> {
    const tickets = new Tickets();
    const { codes } = addon().describeAbi();
    const handle = await awaitNative(() =>
      addon().engineOpen(options, (completions) => tickets.settle(completions, codes)),
    );
    return new NativeEngine(handle, tickets);
  }

  bind(catalogue: Catalogue, tokens: LevelTokens): Binding {
    if (!(catalogue instanceof NativeCatalogue)) {
      throw new TesseraError('INTERNAL', 'catalogue: expected one opened by openCatalogue()');
    }
    const slot = callNative(() =>
      addon().engineBind(this.handle, catalogue.handle, compileBinding(tokens)),
    );
    return { slot, catalogue };
  }

  unbind(binding: Binding): void {
    callNative(() => addon().engineUnbind(this.handle, binding.slot));
  }

  recall(request: EngineRequest, signal?: AbortSignal): Promise<EngineAnswer> {
    return this.run(request, readAnswer, signal);
  }

  score(request: EngineScoreRequest, signal?: AbortSignal): Promise<EngineScores> {
    return this.run(request, readScores, signal);
  }

  stats(): EngineStats {
    const slots = new Float64Array(STATS_SLOTS.length);
    callNative(() => addon().engineStats(this.handle, slots));
    const entries = STATS_SLOTS.map((name, i) => [name, slots[i] ?? 0] as const);
    return Object.fromEntries(entries) as unknown as EngineStats;
  }

  async drain(budgetMs: number): Promise<void> {
    await awaitNative(() => addon().engineDrain(this.handle, Math.max(0, budgetMs) * 1000));
  }

  close(): Promise<void> {
    this.closing ??= awaitNative(() => addon().engineClose(this.handle));
    return this.closing;
  }

  private async run<Answer>(
    request: EngineRequest | EngineScoreRequest,
    read: (completions: Completions, index: number) => Answer,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    if (hasAborted(signal)) throw cancelled();
    let ticket = 0;
    const answer = new Promise<Answer>((resolve, reject) => {
      ticket = this.tickets.add({
        resolve: (completions, index) => resolve(read(completions, index)),
        reject,
      });
    });
    try {
      this.submit(ticket, request);
    } catch (thrown) {
      this.tickets.waiting.delete(ticket);
      throw thrown;
    }
    const onAbort = (): void => this.cancel(ticket);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const settled = await answer;
      // The answer may have been on its way when the caller went: it is still told what it asked
      // for.
      if (hasAborted(signal)) throw cancelled();
      return settled;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  private submit(ticket: number, request: EngineRequest | EngineScoreRequest): void {
    const batch = compileBatch([{ ticket, request }]);
    const reach = 'reach' in request ? request.reach : undefined;
    if (reach !== undefined && !(reach instanceof NativeReach)) {
      throw new TesseraError('INTERNAL', "reach: expected one of the binding's catalogue");
    }
    const reaches = [reach?.handle ?? null];
    const outcome = callNative(() => addon().engineSubmit(this.handle, batch, reaches));
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
function hasAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** The engine's hint, rounded up; none where it gave none. */
function retryHint(retryAfterUs: number): { readonly retryAfterMs?: number } {
  return retryAfterUs === 0 ? {} : { retryAfterMs: Math.ceil(retryAfterUs / US_PER_MS) };
}

function cancelled(): TesseraError {
  return new TesseraError('CANCELLED', 'the request was cancelled');
}
