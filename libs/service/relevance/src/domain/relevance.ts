import type { RelevanceProfile } from '@tessera/contracts';
import type { EngineLogits } from '@tessera/engine';
import { type Cancellation, expecting, TesseraError } from '@tessera/errors';
import type { ItemText, Tokenizer } from '@tessera/prompt';
import { inSlices } from '@tessera/turns';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import { type LabelPaths, type LabelStop, labelPaths } from './label-paths.js';
import { adapterOf, type NamedAdapters, NO_ADAPTERS } from './named-adapters.js';
import { type PairPrompt, PairPrompts, type QueryPrompts } from './pair-prompts.js';
import { type CallWork, pairRequests } from './pair-requests.js';
import { readsVocabulary, relevanceScore } from './relevance-score.js';
import type { RelevanceTemplate } from './relevance-template.js';
import type {
  RelevanceAnswer,
  RelevanceContext,
  RelevanceEngine,
  RelevanceLimits,
  RelevanceOutcome,
  RelevanceRequest,
  RelevanceScorer,
} from './relevance-types.js';
import { type TrieOrder, trieOrder } from './trie-order.js';

const invalid = expecting('REQUEST_INVALID');

interface RelevanceParts {
  readonly engine: RelevanceEngine;
  readonly template: RelevanceTemplate;
  readonly tokenizer: Tokenizer;
  readonly limits: RelevanceLimits;
  /** Loaded by the engine; left out: none. */
  readonly adapters?: NamedAdapters;
}

/** A prompt of a document, or why there is none. */
type Prompted = PairPrompt | { readonly error: TesseraError };

/** Common work of all requests of a call but the time that is left. */
type CommonWork = Omit<CallWork, 'budgetUs'>;

/** How long the caller waits; by performance.now(). */
interface Waiting {
  readonly signal: Cancellation | undefined;
  readonly endsMs: number;
}

/** @throws TesseraError CANCELLED or DEADLINE_EXCEEDED where the caller no longer waits */
function checkWaiting({ signal, endsMs }: Waiting): void {
  if (signal?.aborted === true) throw new TesseraError('CANCELLED', 'the request was cancelled');
  if (performance.now() < endsMs) return;
  const message = 'the deadline passed while the documents were made into tokens';
  throw new TesseraError('DEADLINE_EXCEEDED', message);
}

const NO_TOKENS = new Int32Array();
/** Tokens that are written down for the engine in one turn of the event loop. */
const GROUP_TOKENS = 1 << 16;

/** Neighbours together, about so many tokens in each. */
function groups<Pair extends { readonly tokens: Int32Array }>(pairs: readonly Pair[]): Pair[][] {
  const all: Pair[][] = [];
  let left = 0;
  for (const pair of pairs) {
    if (left <= 0) {
      all.push([]);
      left = GROUP_TOKENS;
    }
    all.at(-1)?.push(pair);
    left -= pair.tokens.length;
  }
  return all;
}

/** Logits read behind a prompt, or the reason for none. */
type Read = PromptRead | TesseraError;

interface PromptRead {
  /** Per stop of the labels. */
  readonly logits: readonly Float32Array[];
  readonly computedTokens: number;
  readonly modelDigest: string;
}

/** Scores texts for a query with a language model. Holds nothing of a call. */
export class Relevance implements RelevanceScorer {
  private readonly paths: LabelPaths;
  private readonly pairs: PairPrompts;
  private readonly adapters: NamedAdapters;

  /** @throws TesseraError PROMPT_TEMPLATE_INVALID where template and tokenizer do not fit */
  constructor(private readonly parts: RelevanceParts) {
    const { engine, template, tokenizer, limits, adapters = NO_ADAPTERS } = parts;
    this.adapters = adapters;
    this.paths = labelPaths(template.labels, tokenizer);
    const { maxPositions, vocabSize } = engine.model;
    const most = Math.min(limits.promptTokensMax, maxPositions);
    const labelTokens = Math.max(...this.paths.stops.map(({ prefix }) => prefix.length));
    const tokensMax = Math.min(template.tokensMax, most - labelTokens);
    this.pairs = new PairPrompts(template, tokenizer, tokensMax);
    const label = this.paths.stops.flatMap(({ tokens }) => [...tokens]).find((t) => t >= vocabSize);
    if (label === undefined) return;
    throw new TesseraError(
      'TOKENIZER_INVALID',
      `tokenizer: expected tokens below ${vocabSize} for the labels, got ${label}`,
      { field: 'tokenizer' },
    );
  }

  get itemText(): ItemText {
    return this.parts.template.itemText;
  }

  checkAdapter(name: string, field: string): void {
    adapterOf(this.adapters, name, field);
  }

  profile(): RelevanceProfile {
    const { engine, template, limits } = this.parts;
    const { tokenUs, backlogUs } = engine.stats();
    const { documentsMax } = limits;
    return {
      model: engine.model.digest,
      template: template.name,
      documentsMax,
      tokenUs,
      backlogUs,
    };
  }

  async score(request: RelevanceRequest, context: RelevanceContext): Promise<RelevanceAnswer> {
    const { documents, query, instruction } = request;
    const { documentsMax } = this.parts.limits;
    if (documents.length < 1 || documents.length > documentsMax) {
      throw invalid('documents', `1..${documentsMax} documents`, documents.length);
    }
    const adapter = adapterOf(this.adapters, request.adapter ?? '', 'adapter');
    const endsMs = performance.now() + context.budgetUs / MICROSECONDS_PER_MILLISECOND;
    const asked = await this.pairs.ofQuery(query, instruction);
    const waiting = { signal: context.signal, endsMs };
    const prompted = await this.prompt(asked, request, waiting);
    const prompts = prompted.map((of) => ('error' in of ? NO_TOKENS : of.tokens));
    const order = trieOrder(prompts);
    const { headTokens } = asked;
    const work = { ...this.workOf(request), headTokens, adapter };
    const read = await this.readAll(prompts, order, work, waiting);
    const outcomes = prompted.map((of, i) => this.outcome(of, read[order.placeOf[i] as number]));
    const failed = outcomes.find((outcome) => 'error' in outcome);
    if (request.failures === 'whole' && failed !== undefined && 'error' in failed) {
      throw failed.error;
    }
    return { ...this.answer(outcomes, read), adapter: adapter?.digest ?? '' };
  }

  private prompt(
    prompts: QueryPrompts,
    { documents, tooLong }: RelevanceRequest,
    waiting: Waiting,
  ): Promise<readonly Prompted[]> {
    return inSlices(documents, async (document, i) => {
      try {
        checkWaiting(waiting);
        if (document instanceof TesseraError) throw document;
        return await prompts.of(document, `documents[${i}]`, tooLong === 'cut');
      } catch (error) {
        return { error: TesseraError.from(error) };
      }
    });
  }

  /** Per place of the order. Prompts are submitted so many at a time, neighbours together. */
  private async readAll(
    prompts: readonly Int32Array[],
    { asked, shared }: TrieOrder,
    common: CommonWork,
    { signal, endsMs }: Waiting,
  ): Promise<readonly (Read | undefined)[]> {
    const { engine, limits } = this.parts;
    const { stops } = this.paths;
    const read: (Read | undefined)[] = [];
    const atOnce = Math.max(1, Math.floor(limits.requestsAtOnce / stops.length));
    for (let first = 0; first < asked.length; first += atOnce) {
      const budgetUs = (endsMs - performance.now()) * MICROSECONDS_PER_MILLISECOND;
      const work = { ...common, budgetUs };
      const part = asked.slice(first, first + atOnce).map((i) => prompts[i] ?? NO_TOKENS);
      const pairs = part.map((tokens, i) => ({
        tokens,
        sibling: i === 0 ? 0 : (shared[first + i] ?? 0),
      }));
      const submitted = await inSlices(groups(pairs), (group) => {
        const written = group.flatMap((pair) =>
          pair.tokens.length === 0 ? [] : pairRequests(pair, stops, work),
        );
        return { ended: Promise.allSettled(engine.relevance(written, signal)) };
      });
      const ended = (await Promise.all(submitted.map((group) => group.ended))).flat();
      for (const tokens of part) {
        if (tokens.length === 0) read.push(undefined);
        else read.push(promptRead(tokens.length, stops, ended.splice(0, stops.length)));
      }
    }
    return read;
  }

  /** Common work of all requests of a call. */
  private workOf({ priority }: RelevanceRequest) {
    const scoreNorm = readsVocabulary(this.parts.template, this.paths) ? 'full' : 'allowed';
    return { scoreNorm, priority } as const;
  }

  private outcome(prompted: Prompted, read: Read | undefined): RelevanceOutcome {
    if ('error' in prompted) return prompted;
    if (read === undefined || read instanceof TesseraError) {
      return {
        error: read ?? new TesseraError('INTERNAL', 'relevance: expected logits, got none'),
      };
    }
    const { template } = this.parts;
    return {
      score: relevanceScore(template, this.paths, read.logits),
      promptTokens: prompted.tokens.length,
      documentTokens: prompted.documentTokens,
      cutTokens: prompted.cutTokens,
    };
  }

  private answer(
    outcomes: readonly RelevanceOutcome[],
    read: readonly (Read | undefined)[],
  ): Omit<RelevanceAnswer, 'adapter'> {
    const all = read.flatMap((of) => (of === undefined || of instanceof TesseraError ? [] : of));
    return {
      outcomes,
      promptTokens: outcomes.reduce((sum, of) => sum + ('error' in of ? 0 : of.promptTokens), 0),
      computedTokens: all.reduce((sum, { computedTokens }) => sum + computedTokens, 0),
      modelDigest: all[0]?.modelDigest ?? this.parts.engine.model.digest,
      template: this.parts.template.name,
    };
  }
}

/** Reading of a prompt of so many tokens, from what became of its stops. */
function promptRead(
  promptTokens: number,
  stops: readonly LabelStop[],
  ended: readonly PromiseSettledResult<EngineLogits>[],
): Read {
  const logits: Float32Array[] = [];
  let computedTokens = 0;
  let modelDigest = '';
  for (const [i, one] of ended.entries()) {
    if (one.status === 'rejected') return TesseraError.from(one.reason);
    const { value } = one;
    logits.push(value.logits);
    computedTokens += promptTokens + (stops[i]?.prefix.length ?? 0) - value.reusedTokens;
    modelDigest = value.modelDigest;
  }
  return { logits, computedTokens, modelDigest };
}
