import { randomUUID } from 'node:crypto';
import type { Popularity } from '@tessera/behaviour';
import type { KvPrefetch, KvUse } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import type { Prompt } from '@tessera/prompt';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import type { SearchSettings } from '../request/check-recall.js';
import { invalid } from '../request/check-source.js';
import type { RequestLimits } from '../request/request-limits.js';
import type { RecallContext, RecallRequest, UserSource } from '../request/request-types.js';
import type { CountedCaps } from './count-caps.js';
import { checkWaiting, type Prepared, Stopwatch } from './prepared.js';
import { promptRoom, type RecallParts, rankedRoom, requestLimits } from './recall-parts.js';
import { RememberedPrompts } from './remembered-prompts.js';
import { RequestScope } from './request-scope.js';
import { type ResolvedHistory, resolveHistory } from './resolve-history.js';
import { SeenActions } from './seen-actions.js';

/** Context of a request that is answered by one catalogue. */
export interface ScopedContext extends RecallContext {
  /** Gives back what the request takes. */
  readonly scope: RequestScope;
}

/** Parts of a preparation that are there when it begins. */
interface Beforehand {
  readonly popularity: Popularity | undefined;
  readonly prefetch: KvPrefetch | undefined;
}

/** Parts of a recall that a replay needs. */
interface Replayable {
  readonly prepared: Prepared;
  readonly caps: CountedCaps;
  readonly search: Pick<SearchSettings, 'explore'>;
}

type Profile = Readonly<Record<string, string>>;

interface Written {
  readonly prompt: Prompt;
  /** Values that the prompt was written with. */
  readonly profile: Profile;
}

/** The caller's ID, or one that is made. */
const requestIdOf = ({ requestId }: UserSource): string =>
  requestId === '' ? randomUUID() : requestId;

/** Prompt of a request that the engine is not asked about. */
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
  readonly seenActions = new SeenActions();
  private readonly promptTokensMax: number;
  /** Keys of stored profiles of which a value was left out. */
  private readonly unusableKeys = new Set<string>();

  constructor(readonly parts: RecallParts) {
    this.limits = requestLimits(parts);
    this.promptTokensMax = promptRoom(parts);
    this.remembered = new RememberedPrompts(parts.defaults.rememberedRecalls);
  }

  /**
   * A profile to be stored. Keys that this template does not show are taken: another one may.
   * @throws TesseraError REQUEST_INVALID naming a value that no prompt can show
   */
  checkProfile(stored: Profile): void {
    const { profileKeys } = this.limits;
    const shown = Object.entries(stored).filter(([key]) => profileKeys.includes(key));
    const profile = Object.fromEntries(shown);
    this.parts.template.render({ profile, scene: {}, history: [] }, Number.POSITIVE_INFINITY);
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
    const requestId = requestIdOf(request);
    const prepared = await this.prepareWith(request, context, stopwatch, given);
    return { ...prepared, requestId, userId, mark };
  }

  private async prepareWith(
    request: UserSource,
    context: RecallContext,
    stopwatch: Stopwatch,
    { popularity, prefetch }: Beforehand,
  ): Promise<Omit<Prepared, 'requestId' | 'userId' | 'mark'>> {
    const { defaults } = this.parts;
    const { profileKeys } = this.limits;
    const historyParts = { ...this.parts, ...defaults, profileKeys, popularity };
    const resolved = await resolveHistory(
      request,
      historyParts,
      context.budgetUs / MICROSECONDS_PER_MILLISECOND,
    );
    const featuresUs = stopwatch.lapUs();
    const { prompt, profile } =
      resolved.fallback === 'popular'
        ? { prompt: NO_PROMPT, profile: resolved.profile }
        : this.promptOf(request, resolved, context);
    const history = { ...resolved, profile };
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
    const requestId = requestIdOf(request);
    return { ...remembered, requestId, mark, history: undefined, kv, ...stages, adapter };
  }

  /** Keeps the prompt of a recall, so that it can be replayed. */
  remember({ prepared, caps, search }: Replayable): void {
    const { requestId, userId, adapter, prompt, skippedItems, trimmedItems } = prepared;
    const source = { userId, adapter: adapter?.digest ?? '' };
    const seed = search.explore?.seed;
    this.remembered.keep(requestId, { ...source, prompt, skippedItems, trimmedItems, caps, seed });
  }

  private promptOf(
    request: UserSource,
    history: ResolvedHistory,
    { ranker }: RecallContext,
  ): Written {
    const ranked = rankedRoom(this.parts, ranker?.reading?.item);
    if (ranked < 1) {
      const { maxPositions } = this.parts.engine.model;
      const got = `items of up to ${maxPositions - ranked} (maxItemTokens)`;
      throw invalid('rank.adapter', `items that leave room in ${maxPositions} positions`, got);
    }
    const room = Math.min(this.promptTokensMax, ranked);
    const { prompt, profile } = this.written(request, history, room);
    if (prompt.tokens.length === 0) {
      throw invalid(
        'history',
        'a history, profile or scene that the prompt template shows',
        'none',
      );
    }
    const isEncoded = this.parts.engine.model.encoderLayerCount > 0;
    return { prompt: isEncoded ? keptWhole(prompt) : prompt, profile };
  }

  /** A stored value that the template cannot use is left out: the request did not choose it. */
  private written(request: UserSource, { profile, items }: ResolvedHistory, room: number): Written {
    const { userId, scene } = request;
    let usable = profile;
    for (;;) {
      try {
        const input = { userId, profile: usable, scene, history: items };
        return { prompt: this.parts.template.render(input, room), profile: usable };
      } catch (thrown) {
        const { field } = TesseraError.from(thrown);
        const own = Object.keys(usable).filter((key) => !Object.hasOwn(request.profile, key));
        const unusable = own.find((key) => field === `profile.${key}`);
        if (unusable === undefined) throw thrown;
        this.tellUnusable(unusable);
        usable = Object.fromEntries(Object.entries(usable).filter(([key]) => key !== unusable));
      }
    }
  }

  private tellUnusable(key: string): void {
    if (this.unusableKeys.has(key)) return;
    this.unusableKeys.add(key);
    this.parts.onUnusableProfile?.(key);
  }
}

/** Keys and values of an encoder's prompt are of use to the very same tokens, all but the last. */
function keptWhole(prompt: Prompt): Prompt {
  return { ...prompt, prefixTokens: 0, keepTokens: prompt.tokens.length - 1 };
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

/** Use of a prompt that is no user's: the static text that all begin with. */
function staticKvUse({ prefixTokens }: Prompt): KvUse {
  return { userId: '', prefixTokens, keepTokens: prefixTokens };
}
