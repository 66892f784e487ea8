import { randomUUID } from 'node:crypto';
import type { BehaviourStore } from '@tessera/behaviour';
import type { Binding, Catalogue, Engine, EngineAnswer, EngineTimings } from '@tessera/engine';
import { type CompiledTemplate, type Prompt, slotKeys } from '@tessera/prompt';
import { checkRequest, checkWaiting, type RequestLimits, refuse } from './check-request.js';
import type {
  RecallAnswer,
  RecallContext,
  RecalledItem,
  RecallRequest,
  RecallVersions,
} from './recall-types.js';
import { type ResolvedHistory, resolveHistory } from './resolve-history.js';
import type { RecallDefaults } from './runtime-types.js';

/** What a recall works with. One set serves all requests; nothing in it changes. */
export interface RecallParts {
  readonly engine: Engine;
  readonly catalogue: Catalogue;
  readonly binding: Binding;
  readonly template: CompiledTemplate;
  readonly behaviours: BehaviourStore;
  readonly defaults: RecallDefaults;
  readonly promptTokensMax: number;
  readonly widthMax: number;
  readonly resultCountMax: number;
}

/** The life of a recall on this node: history -> SIDs -> prompt -> engine -> items. */
export class Recall {
  private readonly limits: RequestLimits;
  private readonly versions: RecallVersions;
  /** Tokens of a prompt that leave room for the answer: its last token is chosen, never fed. */
  private readonly promptTokensMax: number;

  constructor(private readonly parts: RecallParts) {
    const { engine, catalogue, template, defaults } = parts;
    const steps = catalogue.summary.depth + template.levelTokens.terminal.length;
    this.promptTokensMax = Math.min(parts.promptTokensMax, engine.model.maxPositions - steps + 1);
    this.limits = {
      resultCountMax: parts.resultCountMax,
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
    this.versions = {
      model: engine.model.digest,
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
    const history = await resolveHistory(request, { ...this.parts, ...this.historyLimits() });
    const featuresUs = stopwatch.lapUs();
    const prompt = this.promptOf(request, history);
    const promptUs = stopwatch.lapUs();
    const elapsedUs = stopwatch.totalUs();
    checkWaiting(context, elapsedUs);
    const answer = await this.parts.engine.recall(
      {
        ...wish,
        binding: this.parts.binding,
        promptTokens: prompt.tokens,
        budgetUs: context.budgetUs - elapsedUs,
      },
      context.signal,
    );
    const items = this.itemsOf(answer);
    return {
      requestId: request.requestId === '' ? randomUUID() : request.requestId,
      items,
      short: items.length < wish.resultCount,
      widthsUsed: answer.widthsUsed,
      historyItems: prompt.historyItems,
      trimmedItems: prompt.trimmedItems,
      skippedItems: history.skippedItems,
      promptTokens: prompt.tokens.length,
      prefixReusedTokens: answer.prefixReusedTokens,
      versions: this.versions,
      timings: {
        featuresUs,
        promptUs,
        ...engineStages(answer.timings),
        totalUs: stopwatch.totalUs(),
      },
    };
  }

  private historyLimits() {
    const { historyItemsMax, profileKeys } = this.limits;
    return { historyItemsMax, profileKeys };
  }

  private promptOf(request: RecallRequest, history: ResolvedHistory): Prompt {
    const prompt = this.parts.template.render(
      { profile: history.profile, scene: request.scene, history: history.items },
      this.promptTokensMax,
    );
    if (prompt.tokens.length === 0) {
      refuse('history', 'a history, profile or scene that the prompt template shows', 'none');
    }
    return prompt;
  }

  private itemsOf(answer: EngineAnswer): RecalledItem[] {
    const ordinals = Uint32Array.from(answer.items, (item) => item.ordinal);
    const described = this.parts.catalogue.items(ordinals);
    return answer.items.map(({ score, path }, index) => ({
      itemId: described[index]?.itemId ?? '',
      sid: answer.paths[path]?.sid ?? [],
      score,
      rank: index + 1,
      title: described[index]?.title ?? '',
    }));
  }
}

function engineStages(timings: EngineTimings): Omit<EngineTimings, 'totalUs'> {
  const { totalUs: _engineTotal, ...stages } = timings;
  return stages;
}

/** Microseconds since it was made, and since the last lap. */
class Stopwatch {
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
