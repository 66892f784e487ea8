import type { Popularity } from '@tessera/behaviour';
import type { KvPrefetch } from '@tessera/engine';
import type { Prompt } from '@tessera/prompt';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import { checkWaiting, invalid, type RequestLimits } from './check-request.js';
import { kvUseOf, staticKvUse } from './kv-provenance.js';
import { checkNotErased, type Prepared } from './prepared.js';
import { promptRoom, type RecallParts, requestLimits } from './recall-parts.js';
import type { RecallContext, RecallRequest, UserSource } from './recall-types.js';
import { RememberedPrompts } from './remembered-prompts.js';
import type { RequestScope } from './request-scope.js';
import { type ResolvedHistory, resolveHistory } from './resolve-history.js';
import { Stopwatch } from './stopwatch.js';

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
      userId === undefined || !erasures.isComplete
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
    const prompt = history.fallback === 'popular' ? NO_PROMPT : this.promptOf(request, history);
    const promptUs = stopwatch.lapUs();
    const elapsedUs = stopwatch.totalUs();
    checkWaiting(context, elapsedUs);
    const leftUs = context.budgetUs - elapsedUs;
    const isWhole = history.fallback === '' && this.parts.erasures.isComplete;
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
    if (!this.parts.erasures.isComplete) return undefined;
    const remembered = this.remembered.of(request, adapter?.digest ?? '');
    if (remembered === undefined) return undefined;
    const kv = kvUseOf(request, context, remembered.prompt, undefined);
    const leftUs = context.budgetUs - stopwatch.totalUs();
    const stages = { featuresUs: 0, promptUs: stopwatch.lapUs(), leftUs, stopwatch };
    const { mark } = this.parts.erasures;
    return { ...remembered, mark, history: undefined, kv, ...stages, adapter };
  }

  /**
   * The members that every request to the engine has. From here on the engine sees to it that an
   * erasure leaves nothing of the prompt.
   * @throws TesseraError CANCELLED where the user has been erased meanwhile
   */
  workOf(prepared: Prepared) {
    checkNotErased(prepared, this.parts.erasures);
    const { prompt, kv, leftUs, adapter } = prepared;
    const { binding } = this.parts;
    const promptTokens = prompt.tokens;
    return { binding, promptTokens, kv, budgetUs: leftUs, adapter: adapter?.engine };
  }

  private promptOf(request: UserSource, history: ResolvedHistory): Prompt {
    const prompt = this.parts.template.render(
      { profile: history.profile, scene: request.scene, history: history.items },
      this.promptTokensMax,
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
