import { randomUUID } from 'node:crypto';
import type { ServedAdapter } from '@tessera/adapter';
import type { BehaviourStore } from '@tessera/behaviour';
import {
  type Binding,
  type Catalogue,
  type Engine,
  type EngineAnswer,
  type EnginePass,
  type KvPrefetch,
  NO_ITEM,
  NO_TIMINGS,
  type Reach,
} from '@tessera/engine';
import type { Erasures } from '@tessera/erasure';
import { type CompiledTemplate, type Prompt, slotKeys } from '@tessera/prompt';
import {
  checkAppendRequest,
  checkItemId,
  checkRequest,
  checkScoreRequest,
  checkWaiting,
  namingField,
  type RequestLimits,
  refuse,
} from './check-request.js';
import { engineStages, NOTHING_COMPUTED } from './engine-answer.js';
import { checkSameVersions, toldByCatalogue, toldBySearch } from './explain.js';
import { itemPolicyText, NO_POLICY } from './item-policy.js';
import { recalledItems, scoresOf } from './item-scores.js';
import { kvUseOf, orRelease, provenanceOf, staticKvUse } from './kv-provenance.js';
import { checkNotErased, type Prepared } from './prepared.js';
import type {
  AppendAnswer,
  ExplainAnswer,
  ExplainRequest,
  PromptFacts,
  RecallAnswer,
  RecallContext,
  RecallRequest,
  ScoreAnswer,
  ScoreRequest,
  ScoreTarget,
  UserSource,
} from './recall-types.js';
import { RememberedPrompts } from './remembered-prompts.js';
import { type ResolvedHistory, resolveHistory } from './resolve-history.js';
import type { RecallDefaults, RecallRuntimeOptions } from './runtime-types.js';
import { sightOf } from './sight.js';
import { Stopwatch } from './stopwatch.js';

/** The part of the engine that a recall asks. */
export type RecallEngine = Pick<Engine, 'model' | 'recall' | 'score' | 'append' | 'prefetch'>;

/** What a recall works with. One set serves all requests; nothing in it changes. */
export interface RecallParts extends Pick<RecallRuntimeOptions, 'process'> {
  readonly engine: RecallEngine;
  readonly catalogue: Catalogue;
  /** Where items of histories are looked for as well; left out: nowhere. */
  readonly otherCatalogues?: readonly Catalogue[];
  readonly binding: Binding;
  readonly template: CompiledTemplate;
  readonly behaviours: BehaviourStore;
  readonly erasures: Erasures;
  readonly defaults: RecallDefaults;
  readonly promptTokensMax: number;
  readonly widthMax: number;
  readonly resultCountMax: number;
  readonly scoreItemsMax: number;
  /** Told the forward passes of every recall. */
  readonly onPasses?: ((passes: readonly EnginePass[]) => void) | undefined;
}

/** Without a digest where the engine was not asked. */
type EngineFacts = Pick<
  EngineAnswer,
  'catalogueSequence' | 'prefixReusedTokens' | 'kv' | 'timings'
> & { readonly modelDigest?: string };

/** The life of a recall on this node: history -> SIDs -> prompt -> engine -> items. */
export class Recall {
  private readonly limits: RequestLimits;
  private readonly remembered: RememberedPrompts;
  private readonly versions;
  /** Tokens of a prompt that leave room for the answer: its last token is chosen, never fed. */
  private readonly promptTokensMax: number;

  constructor(private readonly parts: RecallParts) {
    const { engine, catalogue, template, defaults } = parts;
    const steps = catalogue.summary.depth + template.levelTokens.terminal.length;
    this.promptTokensMax = Math.min(parts.promptTokensMax, engine.model.maxPositions - steps + 1);
    this.limits = {
      resultCountMax: parts.resultCountMax,
      scoreItemsMax: parts.scoreItemsMax,
      widthMax: parts.widthMax,
      stepsMax: steps,
      itemsPerSidMax: parts.resultCountMax,
      historyItemsMax: defaults.historyItemsMax,
      defaultResultCount: defaults.resultCount,
      defaultWidths: defaults.widths,
      defaultItemsPerSid: Math.min(defaults.itemsPerSid, parts.resultCountMax),
      defaultScoreNorm: defaults.scoreNorm,
      profileKeys: slotKeys(template.template, 'profile'),
      sceneKeys: slotKeys(template.template, 'scene'),
    };
    this.remembered = new RememberedPrompts(defaults.rememberedRecalls);
    this.versions = {
      ...parts.process,
      catalogue: catalogue.summary.digest,
      promptTemplate: `${template.template.name}@${template.digest.slice(0, 16)}`,
    };
  }

  /**
   * Answers one request. Rejects with TesseraError: REQUEST_INVALID, USER_NOT_FOUND,
   * ITEM_NOT_FOUND, DEADLINE_EXCEEDED, CANCELLED, or what Engine.recall rejects with.
   */
  async run(request: RecallRequest, context: RecallContext): Promise<RecallAnswer> {
    const stopwatch = new Stopwatch();
    checkWaiting(context, 0);
    const wish = checkRequest(request, this.limits);
    const prepared = await this.prepare(request, context, stopwatch);
    const reach = context.pinned ?? (await orRelease(prepared.kv, this.reachOf(request)));
    const answer = await this.parts.engine.recall(
      { ...wish, ...this.workOf(prepared), reach, wantsTree: request.wantsSight },
      context.signal,
    );
    this.parts.onPasses?.(answer.passes);
    checkNotErased(prepared, this.parts.erasures);
    const items = recalledItems(answer);
    const requestId = request.requestId === '' ? randomUUID() : request.requestId;
    const { prompt, skippedItems, trimmedItems } = prepared;
    const { userId } = request;
    const adapter = context.adapter?.digest ?? '';
    if (context.isOwn !== true) {
      this.remembered.keep(requestId, { userId, adapter, prompt, skippedItems, trimmedItems });
    }
    return {
      requestId,
      items,
      short: items.length < wish.resultCount,
      widthsUsed: answer.widthsUsed,
      completeness: answer.completeness,
      itemPolicy: {
        ...(request.itemPolicy ?? NO_POLICY),
        itemsPerSid: wish.itemsPerSid,
        resultCount: wish.resultCount,
        leftOutByDiversity: answer.leftOutByDiversity,
      },
      ...this.factsOf(prepared, answer),
      ...(request.wantsSight === true && { sight: sightOf(prepared.history, prompt, answer) }),
    };
  }

  /** The scores that `run` would give items, were they recalled. Rejects as `run` does. */
  async score(request: ScoreRequest, context: RecallContext): Promise<ScoreAnswer> {
    const stopwatch = new Stopwatch();
    checkWaiting(context, 0);
    const ranking = checkScoreRequest(request, this.limits);
    const sids = this.sidsOf(request.items);
    const prepared = await this.prepare(request, context, stopwatch);
    const known = sids.filter((sid) => sid.length > 0);
    if (known.length === 0) prepared.kv.prefetch?.release();
    const scored =
      known.length === 0
        ? {
            ...NOTHING_COMPUTED,
            scores: [],
            catalogueSequence: this.parts.catalogue.state().sequence,
          }
        : await this.parts.engine.score(
            { ...ranking, ...this.workOf(prepared), sids: known },
            context.signal,
          );
    return {
      requestId: request.requestId === '' ? randomUUID() : request.requestId,
      items: scoresOf(request.items, sids, scored),
      ...this.factsOf(prepared, scored),
    };
  }

  /**
   * What becomes of an item in a recall: replayed on the versions of the answer in question, so
   * that it is what became of it. Rejects as `run` does, and with CATALOGUE_NOT_FOUND where the
   * version of the catalogue is not kept.
   */
  async explain(request: ExplainRequest, context: RecallContext): Promise<ExplainAnswer> {
    const stopwatch = new Stopwatch();
    checkWaiting(context, 0);
    const { recall, itemId, versions } = request;
    const wish = checkRequest(recall, this.limits);
    checkItemId('itemId', itemId);
    const { catalogue, engine } = this.parts;
    checkSameVersions(versions, this.versionsWith(context.adapter, engine.model.digest));
    const asked = versions && this.preparedBefore(recall, context, stopwatch);
    const { eligibility = '{}' } = recall;
    const itemPolicy = itemPolicyText(recall);
    const sequence = versions?.catalogueSequence;
    const judged = await namingField(
      catalogue.judge({ eligibility, itemPolicy, itemId, sequence }),
    );
    const prepared = asked ?? (await this.prepare(recall, context, stopwatch));
    const told = toldByCatalogue(judged);
    if (told !== undefined) prepared.kv.prefetch?.release();
    const found =
      told === undefined
        ? await engine.recall(
            {
              ...wish,
              ...this.workOf(prepared),
              allowsPartial: false,
              reach: judged.reach,
              watchedItem: judged.item,
            },
            context.signal,
          )
        : {
            ...NOTHING_COMPUTED,
            catalogueSequence: judged.reach.sequence,
            widthsUsed: [],
            fate: undefined,
          };
    return {
      requestId: recall.requestId === '' ? randomUUID() : recall.requestId,
      itemId,
      sid: judged.sid,
      ...(told ?? toldBySearch(found.fate)),
      widthsUsed: found.widthsUsed,
      ...this.factsOf(prepared, found),
    };
  }

  /**
   * Computes what the pool has not of a user's history and keeps it, behind all who want answers.
   * Rejects as `run` does.
   */
  async append(request: UserSource, context: RecallContext): Promise<AppendAnswer> {
    const stopwatch = new Stopwatch();
    checkWaiting(context, 0);
    checkAppendRequest(request, this.limits);
    const wanted = { ...request, requiresHistory: true };
    const prepared = await this.prepare(wanted, context, stopwatch);
    const { prompt, kv, skippedItems, trimmedItems } = prepared;
    // One more than is kept, where there is one: the last token of a prompt never is.
    const promptTokens = prompt.tokens.subarray(0, kv.keepTokens + 1);
    const appended =
      kv.keepTokens === 0
        ? undefined
        : await this.parts.engine.append(
            { ...this.workOf(prepared), promptTokens, priority: 'low' },
            context.signal,
          );
    if (appended === undefined) kv.prefetch?.release();
    return {
      requestId: request.requestId === '' ? randomUUID() : request.requestId,
      historyItems: prompt.historyItems,
      trimmedItems,
      skippedItems,
      keptTokens: Math.min(kv.keepTokens, prompt.tokens.length - 1),
      kv: provenanceOf(promptTokens.length, appended),
    };
  }

  /** The prompt of a user, within the time. What is kept of him comes to the device meanwhile. */
  private async prepare(
    request: UserSource,
    context: RecallContext,
    stopwatch: Stopwatch,
  ): Promise<Prepared> {
    stopwatch.lapUs();
    const { userId } = request;
    const { engine, binding, erasures } = this.parts;
    const { mark } = erasures;
    const prefetch =
      userId === undefined ? undefined : engine.prefetch(binding, userId, context.adapter?.engine);
    try {
      return { ...(await this.prepareWith(request, context, stopwatch, prefetch)), userId, mark };
    } catch (thrown) {
      prefetch?.release();
      throw thrown;
    }
  }

  private async prepareWith(
    request: UserSource,
    context: RecallContext,
    stopwatch: Stopwatch,
    prefetch: KvPrefetch | undefined,
  ): Promise<Omit<Prepared, 'userId' | 'mark'>> {
    const { defaults } = this.parts;
    const { profileKeys } = this.limits;
    const history = await resolveHistory(request, { ...this.parts, ...defaults, profileKeys });
    const featuresUs = stopwatch.lapUs();
    const prompt = this.promptOf(request, history);
    const promptUs = stopwatch.lapUs();
    const elapsedUs = stopwatch.totalUs();
    checkWaiting(context, elapsedUs);
    const leftUs = context.budgetUs - elapsedUs;
    const isWhole = history.fallback === '';
    // A prompt without the user's history is not the beginning of the user's next one.
    if (!isWhole) prefetch?.release();
    const kv = isWhole ? kvUseOf(request, context, prompt, prefetch) : staticKvUse(prompt);
    const { skippedItems } = history;
    const trimmedItems = history.trimmedItems + prompt.trimmedItems;
    const stages = { featuresUs, promptUs, leftUs, stopwatch };
    const { adapter } = context;
    return { prompt, history, kv, skippedItems, trimmedItems, ...stages, adapter };
  }

  /** The prompt that the recall in question had, where it is remembered. */
  private preparedBefore(
    request: RecallRequest,
    context: RecallContext,
    stopwatch: Stopwatch,
  ): Prepared | undefined {
    const { adapter } = context;
    const remembered = this.remembered.of(request, adapter?.digest ?? '');
    if (remembered === undefined) return undefined;
    const kv = kvUseOf(request, context, remembered.prompt, undefined);
    const leftUs = context.budgetUs - stopwatch.totalUs();
    const stages = { featuresUs: 0, promptUs: stopwatch.lapUs(), leftUs, stopwatch };
    const { mark } = this.parts.erasures;
    return { ...remembered, mark, history: undefined, kv, ...stages, adapter };
  }

  /**
   * What the engine is given: from here on it sees to it that an erasure keeps nothing of it.
   * @throws TesseraError CANCELLED where the user has been erased meanwhile
   */
  private workOf(prepared: Prepared) {
    checkNotErased(prepared, this.parts.erasures);
    const { prompt, kv, leftUs, adapter } = prepared;
    const { binding } = this.parts;
    const promptTokens = prompt.tokens;
    return { binding, promptTokens, kv, budgetUs: leftUs, adapter: adapter?.engine };
  }

  /** Of what the user's recalls asked, nothing is known any more. */
  forget(userId: string): void {
    this.remembered.forget(userId);
  }

  private versionsWith(adapter: ServedAdapter | undefined, model: string) {
    const { digest = '', name = '' } = adapter ?? {};
    return { ...this.versions, model, adapter: digest, adapterName: name };
  }

  private factsOf(prepared: Prepared, answer: EngineFacts): PromptFacts {
    const { prompt, skippedItems, trimmedItems, featuresUs, promptUs, stopwatch } = prepared;
    const { catalogueSequence, modelDigest = this.parts.engine.model.digest } = answer;
    return {
      historyItems: prompt.historyItems,
      trimmedItems,
      skippedItems,
      fallback: prepared.history?.fallback ?? '',
      promptTokens: prompt.tokens.length,
      prefixReusedTokens: answer.prefixReusedTokens,
      kv: provenanceOf(answer.timings === NO_TIMINGS ? 0 : prompt.tokens.length, answer),
      versions: { ...this.versionsWith(prepared.adapter, modelDigest), catalogueSequence },
      timings: {
        featuresUs,
        promptUs,
        ...engineStages(answer.timings),
        totalUs: stopwatch.totalUs(),
      },
    };
  }

  /** The SID of each target; empty where the catalogue does not know the item. */
  private sidsOf(targets: readonly ScoreTarget[]): readonly (readonly number[])[] {
    const { catalogue } = this.parts;
    const itemIds = targets.flatMap((target) => ('itemId' in target ? [target.itemId] : []));
    const ordinals = catalogue.find(itemIds);
    const found = catalogue.sids(ordinals.filter((ordinal) => ordinal !== NO_ITEM));
    const ofItems = Array.from(ordinals, (ordinal) =>
      ordinal === NO_ITEM ? [] : (found.shift() ?? []),
    );
    return targets.map((target) => ('sid' in target ? target.sid : (ofItems.shift() ?? [])));
  }

  /** Compiled off this thread, before the request waits for the engine. */
  private async reachOf(request: RecallRequest): Promise<Reach | undefined> {
    const { eligibility, itemPolicy } = request;
    if (eligibility === undefined && itemPolicy === undefined) return undefined;
    const { catalogue } = this.parts;
    return namingField(catalogue.reach(eligibility ?? '{}', itemPolicyText(request)));
  }

  private promptOf(request: UserSource, history: ResolvedHistory): Prompt {
    const prompt = this.parts.template.render(
      { profile: history.profile, scene: request.scene, history: history.items },
      this.promptTokensMax,
    );
    if (prompt.tokens.length === 0) {
      refuse('history', 'a history, profile or scene that the prompt template shows', 'none');
    }
    return prompt;
  }
}
