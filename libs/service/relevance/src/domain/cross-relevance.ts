import type { RelevanceProfile } from '@tessera/contracts';
import { TEXTS_AT_ONCE } from '@tessera/embedding';
import { type Cancellation, expecting, TesseraError } from '@tessera/errors';
import { ItemText } from '@tessera/prompt';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import pMap from 'p-map';
import { adapterOf, NO_ADAPTERS } from './named-adapters.js';
import { type PairTokenMaker, type PairTokens } from './pair-tokens.js';
import type {
  RelevanceAnswer,
  RelevanceContext,
  RelevanceOutcome,
  RelevanceRequest,
  RelevanceScorer,
} from './relevance-types.js';

const invalid = expecting('REQUEST_INVALID');

/** Name in answers, in place of a template's. */
const NAME = 'cross-encoder';

/** Encodes pairs in passes that it fills. A pair's logits have the same bits in any company. */
export interface PairEncoder {
  readonly digest: string;
  /** The logits of each pair. */
  logits(
    pairs: readonly PairTokens[],
    call: { readonly signal: Cancellation; readonly endsAtMs: number },
  ): readonly Promise<Float32Array>[];
  /** Predicted now, microseconds: of a token, and of all that waits. */
  rates(): { readonly tokenUs: number; readonly backlogUs: number };
}

/** Function applied to the one logit of a pair. */
export type Activation = 'sigmoid' | 'tanh' | 'identity';

const ACTIVATE: Readonly<Record<Activation, (logit: number) => number>> = {
  sigmoid: (logit) => 1 / (1 + Math.exp(-logit)),
  tanh: Math.tanh,
  identity: (logit) => logit,
};

interface CrossParts {
  readonly encoder: PairEncoder;
  readonly maker: PairTokenMaker;
  readonly activation: Activation;
  readonly documentsMax: number;
}

type Made = PairTokens | { readonly error: TesseraError };

/** Scores texts for a query with a classifier of pairs (a cross-encoder). */
export class CrossRelevance implements RelevanceScorer {
  readonly itemText = ItemText.ofTitle;

  constructor(private readonly parts: CrossParts) {}

  profile(): RelevanceProfile {
    const { encoder, documentsMax } = this.parts;
    return Object.assign(encoder.rates(), {
      model: encoder.digest,
      template: NAME,
      documentsMax,
    });
  }

  async score(request: RelevanceRequest, context: RelevanceContext): Promise<RelevanceAnswer> {
    const { encoder, documentsMax, maker } = this.parts;
    const { documents, query, instruction, failures, tooLong } = request;
    if (documents.length < 1 || documents.length > documentsMax) {
      throw invalid('documents', `1..${documentsMax} documents`, documents.length);
    }
    this.checkAdapter(request.adapter ?? '', 'adapter');
    if (instruction !== undefined) throw invalid('instruction', 'none for this model', 'one');
    const endsAtMs = performance.now() + context.budgetUs / MICROSECONDS_PER_MILLISECOND;
    const asked = await maker.queryTokens(query);
    const pairOf = async (document: string | TesseraError, i: number): Promise<Made> => {
      try {
        if (document instanceof TesseraError) throw document;
        return await maker.pairOf(asked, document, `documents[${i}]`, tooLong === 'cut');
      } catch (error) {
        return { error: TesseraError.from(error) };
      }
    };
    const made = await pMap(documents, pairOf, { concurrency: TEXTS_AT_ONCE });
    const { pairs, placeOf } = distinct(made);
    const call = { signal: context.signal ?? new AbortController().signal, endsAtMs };
    const read = await Promise.allSettled(encoder.logits(pairs, call));
    const outcomes = made.map((of, i) => this.outcome(of, read[placeOf[i] as number]));
    const failed = outcomes.find((of) => 'error' in of);
    if (failures === 'whole' && failed !== undefined && 'error' in failed) throw failed.error;
    return {
      outcomes,
      promptTokens: outcomes.reduce((sum, of) => sum + ('error' in of ? 0 : of.promptTokens), 0),
      computedTokens: pairs.reduce((sum, { tokens }) => sum + tokens.length, 0),
      modelDigest: encoder.digest,
      template: NAME,
      adapter: '',
    };
  }

  /** Adapters are for language models. */
  checkAdapter(name: string, field: string): void {
    adapterOf(NO_ADAPTERS, name, field);
  }

  private outcome(
    made: Made,
    read: PromiseSettledResult<Float32Array> | undefined,
  ): RelevanceOutcome {
    if ('error' in made) return made;
    if (read?.status !== 'fulfilled') return { error: TesseraError.from(read?.reason) };
    const logit = read.value[0] as number;
    const score = ACTIVATE[this.parts.activation](logit);
    const { tokens, documentTokens, cutTokens } = made;
    return { score, promptTokens: tokens.length, documentTokens, cutTokens };
  }
}

/** First of each group of equal pairs, and per document the place that answers it. */
function distinct(made: readonly Made[]) {
  const pairs: PairTokens[] = [];
  const places = new Map<string, number>();
  const placeOf = made.map((of) => {
    if ('error' in of) return -1;
    const key = of.tokens.join();
    const known = places.get(key) ?? pairs.push(of) - 1;
    places.set(key, known);
    return known;
  });
  return { pairs, placeOf };
}
