import type { ServedAdapter } from '@tessera/adapter';
import type { Popularity } from '@tessera/behaviour';
import { type EngineAppended, type KvPrefetch, type KvUse, NOTHING_FOUND } from '@tessera/engine';
import type { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { Prompt } from '@tessera/prompt';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import { checkWaiting, invalid, type RequestLimits } from './check-request.js';
import { areCut, type CountedCaps, countCaps, NO_CAPS } from './frequency-caps.js';
import type { AskedRecall } from './phase.js';
import type { KvProvenance, RecallContext, RecallRequest, UserSource } from './recall-types.js';
import { RememberedPrompts } from './remembered-prompts.js';
import { type ResolvedHistory, resolveHistory } from './resolve-history.js';
import { promptRoom, type RecallParts, rankedRoom, requestLimits } from './runtime-types.js';

/** Of a request that is answered by one catalogue. */
export interface ScopedContext extends RecallContext {
  /** Gives back what the request takes. */
  readonly scope: RequestScope;
}

/** Parts of a preparation that are there when it begins. */
interface Beforehand {
  readonly popularity: Popularity | undefined;
  readonly prefetch: KvPrefetch | undefined;
}

/** Of a request that the engine is not asked about. */
const NO_PROMPT: Prompt = {
  tokens: new Int32Array(),
  historyItems: 0,
  trimmedItems: 0,
  prefixTokens: 0,
  keepTokens: 0,
  shown: [],
};

/**
 * The way from a request to the engine that recall, score, explain and append share: history ->
 * prompt, while the user's blocks are on their way to the device.
 */
export class Preparation {
  readonly limits: RequestLimits;
  readonly remembered: RememberedPrompts;
  private readonly promptTokensMax: number;

  constructor(readonly parts: RecallParts) {
    this.limits = requestLimits(parts);
    this.promptTokensMax = promptRoom(parts);
    this.remembered = new RememberedPrompts(parts.defaults.rememberedRecalls);
  }

  /** @throws TesseraError DEADLINE_EXCEEDED or CANCELLED where the caller no longer waits */
  begin(context: RecallContext): Stopwatch {
    const stopwatch = new Stopwatch();
    checkWaiting(context, 0);
    return stopwatch;
  }

  /**
   * The prompt of a user, within the time. Rejects with REQUEST_INVALID, USER_NOT_FOUND,
   * ITEM_NOT_FOUND, DEADLINE_EXCEEDED or CANCELLED.
   * @param popularity answers a user without history, whose prompt is then empty
   */
  async prepare(
    request: UserSource,
    context: ScopedContext,
    stopwatch: Stopwatch,
    popularity?: Popularity,
  ): Promise<Prepared> {
    stopwatch.lapUs();
    const { userId } = request;
    const { engine, binding, erasures } = this.parts;
    const { mark } = erasures;
    const prefetch =
      userId === undefined || !erasures.mayUse(userId)
        ? undefined
        : context.scope.keep(engine.prefetch(binding, userId, context.adapter?.engine));
    const given = { popularity, prefetch };
    return { ...(await this.prepareWith(request, context, stopwatch, given)), userId, mark };
  }

  private async prepareWith(
    request: UserSource,
    context: RecallContext,
    stopwatch: Stopwatch,
    { popularity, prefetch }: Beforehand,
  ): Promise<Omit<Prepared, 'userId' | 'mark'>> {
    const { defaults } = this.parts;
    const { profileKeys } = this.limits;
    const historyParts = { ...this.parts, ...defaults, profileKeys, popularity };
    const history = await resolveHistory(
      request,
      historyParts,
      context.budgetUs / MICROSECONDS_PER_MILLISECOND,
    );
    const featuresUs = stopwatch.lapUs();
    const prompt =
      history.fallback === 'popular' ? NO_PROMPT : this.promptOf(request, history, context);
    const promptUs = stopwatch.lapUs();
    const elapsedUs = stopwatch.totalUs();
    checkWaiting(context, elapsedUs);
    const leftUs = context.budgetUs - elapsedUs;
    const isWhole = history.fallback === '' && this.parts.erasures.mayUse(request.userId);
    // A prompt without the user's history is not the beginning of the user's next one.
    const kv = isWhole ? kvUseOf(request, context, prompt, prefetch) : staticKvUse(prompt);
    const { skippedItems } = history;
    const trimmedItems = history.trimmedItems + prompt.trimmedItems;
    const stages = { featuresUs, promptUs, leftUs, stopwatch };
    const { adapter } = context;
    return { prompt, history, kv, skippedItems, trimmedItems, ...stages, adapter };
  }

  /** The prompt that an earlier recall had, where it is remembered. */
  replay(
    request: RecallRequest,
    context: RecallContext,
    stopwatch: Stopwatch,
  ): Prepared | undefined {
    const { adapter } = context;
    if (!this.parts.erasures.mayUse(request.userId)) return undefined;
    const remembered = this.remembered.of(request, adapter?.digest ?? '');
    if (remembered === undefined) return undefined;
    const kv = kvUseOf(request, context, remembered.prompt, undefined);
    const leftUs = context.budgetUs - stopwatch.totalUs();
    const stages = { featuresUs: 0, promptUs: stopwatch.lapUs(), leftUs, stopwatch };
    const { mark } = this.parts.erasures;
    return { ...remembered, mark, history: undefined, kv, ...stages, adapter };
  }

  /** Keeps the prompt of a recall, so that it can be replayed. */
  remember(
    requestId: string,
    { prepared, caps, search }: Pick<AskedRecall, 'prepared' | 'caps' | 'search'>,
  ): void {
    const { userId, adapter, prompt, skippedItems, trimmedItems } = prepared;
    const source = { userId, adapter: adapter?.digest ?? '' };
    const seed = search.explore?.seed;
    this.remembered.keep(requestId, { ...source, prompt, skippedItems, trimmedItems, caps, seed });
  }

  private promptOf(
    request: UserSource,
    history: ResolvedHistory,
    { ranker }: RecallContext,
  ): Prompt {
    const ranked = rankedRoom(this.parts, ranker?.item);
    if (ranked < 1) {
      const { maxPositions } = this.parts.engine.model;
      const got = `items of up to ${maxPositions - ranked} (maxItemTokens)`;
      throw invalid('rank.adapter', `items that leave room in ${maxPositions} positions`, got);
    }
    const prompt = this.parts.template.render(
      { profile: history.profile, scene: request.scene, history: history.items },
      Math.min(this.promptTokensMax, ranked),
    );
    if (prompt.tokens.length === 0) {
      throw invalid(
        'history',
        'a history, profile or scene that the prompt template shows',
        'none',
      );
    }
    return prompt;
  }
}

/** Microseconds since it was made, and since the last lap. */
export class Stopwatch {
  private readonly start = performance.now();
  private last = this.start;

  lapUs(): number {
    const now = performance.now();
    const lap = (now - this.last) * 1000;
    this.last = now;
    return lap;
  }

  totalUs(): number {
    return (performance.now() - this.start) * 1000;
  }
}

/** A prompt on its way to the engine. */
export interface Prepared {
  readonly userId: string | undefined;
  /** Of the erasures, before anything of the user was read. */
  readonly mark: number;
  readonly prompt: Prompt;
  /** Undefined where an earlier prompt is replayed. */
  readonly history: ResolvedHistory | undefined;
  /** Undefined where an earlier prompt is not replayed: they are yet to be counted. */
  readonly caps?: CountedCaps;
  /** Of the drawn places of an earlier recall; left out: it had none, or is not replayed. */
  readonly seed?: number | undefined;
  readonly kv: KvUse;
  readonly skippedItems: number;
  readonly trimmedItems: number;
  readonly featuresUs: number;
  readonly promptUs: number;
  /** Of the budget. */
  readonly leftUs: number;
  readonly adapter: ServedAdapter | undefined;
  readonly stopwatch: Stopwatch;
}

/** @throws TesseraError CANCELLED where the user was erased since the prompt was begun */
export function checkNotErased({ userId, mark }: Prepared, erasures: Erasures): void {
  if (!erasures.isErasedSince(userId, mark)) return;
  throw new TesseraError('CANCELLED', 'the user was erased while the request ran');
}

/**
 * The members that every request to the engine has. From here on the engine sees to it that an
 * erasure leaves nothing of the prompt.
 * @throws TesseraError CANCELLED where the user has been erased meanwhile
 */
export function workOf({ binding, erasures }: RecallParts, prepared: Prepared) {
  checkNotErased(prepared, erasures);
  const { prompt, kv, leftUs, adapter } = prepared;
  const promptTokens = prompt.tokens;
  return { binding, promptTokens, kv, budgetUs: leftUs, adapter: adapter?.engine };
}

/** Something that is given back once; to give it back again does nothing. */
export interface Taken {
  release(): void;
}

/** The things that one request has taken. Its owner is RequestScopes: nothing else gives back. */
export class RequestScope {
  private readonly taken: Taken[] = [];

  /** Gives it back when the request ends. */
  keep<Thing extends Taken>(thing: Thing): Thing {
    this.taken.push(thing);
    return thing;
  }

  /** Newest first. */
  end(): void {
    for (const thing of this.taken.splice(0).reverse()) thing.release();
  }
}

/** The scopes of the requests under way: each ends with its request, on whichever path. */
export class RequestScopes {
  private count = 0;

  get open(): number {
    return this.count;
  }

  async run<Answer>(act: (scope: RequestScope) => Promise<Answer>): Promise<Answer> {
    const scope = new RequestScope();
    this.count += 1;
    try {
      return await act(scope);
    } finally {
      this.count -= 1;
      scope.end();
    }
  }
}

/**
 * The caps of a recall, its own or those that are configured, with the behaviours that count: read
 * with the history, or as they were counted for the recall that is replayed.
 */
export function countedCaps(
  request: RecallRequest,
  { caps: counted, history }: Prepared,
  { defaults, behaviours: { retention }, nowMs = Date.now }: RecallParts,
): CountedCaps {
  if (counted !== undefined) return counted;
  const { frequencyCaps: own = [], userId } = request;
  const isOwn = own.length > 0;
  const caps = isOwn || userId === undefined ? own : (defaults.frequencyCaps ?? []);
  if (caps.length === 0) return NO_CAPS;
  const path = isOwn ? 'frequencyCaps' : 'recall.frequencyCaps';
  const now = nowMs();
  const { behaviours = [] } = history ?? {};
  const all = countCaps(caps, path, behaviours, now);
  const { historyItemsMax } = defaults;
  const isCut = areCut(caps, { historyItemsMax, retention }, behaviours, now);
  const isAway = history?.behaviours === undefined;
  return {
    // The engine checks the attribute that a request names, whatever has been counted.
    caps: all.filter(({ itemIds, attribute }) => itemIds.length > 0 || (isOwn && attribute !== '')),
    outcome: isAway ? 'unavailable' : isCut ? 'cut' : 'exact',
  };
}

/** @param answer undefined where the engine was not asked */
export function provenanceOf(
  promptTokens: number,
  answer: EngineAppended | undefined,
): KvProvenance {
  const kv = answer?.kv ?? NOTHING_FOUND;
  const { tiers, waitUs, lossy, inheritedTokens, versionsBack } = kv;
  const sharedTokens = answer?.prefixReusedTokens ?? 0;
  const foundTokens = tiers.reduce((sum, { tokens }) => sum + tokens, 0);
  const savedTokens = foundTokens + sharedTokens;
  const computedTokens = answer === undefined ? 0 : promptTokens - savedTokens;
  return {
    waitUs,
    lossy,
    inheritedTokens,
    versionsBack,
    tokensByTier: Object.fromEntries(tiers.map(({ tier, tokens }) => [tier, tokens])),
    sharedTokens,
    computedTokens,
    savedTokens,
  };
}

/**
 * A user's prompt is kept for that user; one from an explicit history leaves the static text
 * alone. The service's own recalls warm up a version or compare it, and are computed
 * under it.
 */
function kvUseOf(
  { userId }: UserSource,
  { isOwn = false }: Pick<RecallContext, 'isOwn'>,
  prompt: Prompt,
  prefetch: KvPrefetch | undefined,
): KvUse {
  if (userId === undefined) return staticKvUse(prompt);
  const { prefixTokens, keepTokens } = prompt;
  const use = { userId, prefixTokens, keepTokens, wantsExact: isOwn };
  return prefetch === undefined ? use : { ...use, prefetch };
}

/** Of a prompt that is no user's: the static text that all begin with. */
function staticKvUse({ prefixTokens }: Prompt): KvUse {
  return { userId: '', prefixTokens, keepTokens: prefixTokens };
}
