import { randomUUID } from 'node:crypto';
import type { Call } from '@tessera/call';
import { TesseraError } from '@tessera/errors';
import type { ItemText } from '@tessera/prompt';
import type { RecallFacts } from '@tessera/recall';
import type { RelevanceAnswer, RelevanceContext, RelevanceRequest } from '@tessera/relevance';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import { classOf, type EdgeParts, type Parsed } from './recall-edge.js';
import { noRelevanceModel } from './relevance-gate.js';

export interface RelevanceEdgeParts
  extends Pick<EdgeParts, 'readiness' | 'metrics' | 'log' | 'tracing' | 'relevance'> {
  readonly facts: Pick<RecallFacts, 'describe'>;
}

/** A text, or an item of the catalogue, whose text is made as the model's template has it. */
export type AskedDocument = { readonly text: string } | { readonly itemId: string };

export interface AskedRelevance extends Omit<RelevanceRequest, 'documents'> {
  readonly requestId: string;
  readonly documents: readonly AskedDocument[];
  /** Catalogue of the items; '': the first. */
  readonly catalogue: string;
}

export interface EdgeRelevance extends RelevanceAnswer {
  readonly requestId: string;
}

/** Answers, counts and traces calls that score texts, for all edges. */
export class RelevanceEdge {
  constructor(private readonly parts: RelevanceEdgeParts) {}

  /** `parse` may throw; its refusals are counted like any other. */
  score(parse: () => Parsed<AskedRelevance>, call: Call): Promise<EdgeRelevance> {
    const { edge, trace } = call;
    const { metrics, log, tracing } = this.parts;
    const startedMs = performance.now();
    const seconds = () => (performance.now() - startedMs) / MILLISECONDS_PER_SECOND;
    return tracing.serve('relevance', trace, async (span) => {
      try {
        const answer = await this.answer(parse, call);
        const { requestId, promptTokens, computedTokens, outcomes } = answer;
        const failed = outcomes.filter((outcome) => 'error' in outcome).length;
        const scored = outcomes.length - failed;
        const observed = { edge, code: 'OK', seconds: seconds() };
        metrics.observeRelevance({ ...observed, scored, failed, promptTokens, computedTokens });
        span.set({ edge, requestId });
        log.debug(
          { edge, requestId, scored, failed, promptTokens, computedTokens },
          'relevance request served',
        );
        return answer;
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (error.code === 'INTERNAL') log.error({ err: thrown, edge }, 'relevance request failed');
        metrics.observeRelevance({ edge, code: error.code, seconds: seconds() });
        throw error;
      }
    });
  }

  private async answer(parse: () => Parsed<AskedRelevance>, call: Call): Promise<EdgeRelevance> {
    const { readiness } = this.parts;
    if (!readiness.takesCalls) {
      throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.description}`);
    }
    const { request, deadlineMs } = parse();
    call.limit(deadlineMs);
    call.admit(classOf(request));
    const context = { signal: call.signal, budgetUs: call.leftUs };
    const { answer } = await scoreTexts(this.parts, request, context);
    const { requestId } = request;
    return { ...answer, requestId: requestId === '' ? randomUUID() : requestId };
  }
}

export interface ScoredTexts {
  /** Per document of the request, as the model read it, or why there is none. */
  readonly texts: readonly (string | TesseraError)[];
  readonly answer: RelevanceAnswer;
}

/** Rejects as the scorer does, and with MODEL_NOT_FOUND where no model scores texts. */
export async function scoreTexts(
  { relevance, facts }: Pick<RelevanceEdgeParts, 'relevance' | 'facts'>,
  request: AskedRelevance,
  context: RelevanceContext,
): Promise<ScoredTexts> {
  if (relevance === undefined) throw noRelevanceModel();
  const texts = textsOf(facts, request, relevance.itemText);
  const answer = await relevance.score({ ...request, documents: texts }, context);
  return { texts, answer };
}

/** It has nothing to score, and a model would give it some number. */
function blankText(index: number): TesseraError {
  const field = `documents[${index}]`;
  const message = `${field}: expected a text that is not empty, got a blank one`;
  return new TesseraError('REQUEST_INVALID', message, { field });
}

function textsOf(
  facts: RelevanceEdgeParts['facts'],
  { documents, catalogue }: AskedRelevance,
  itemText: ItemText,
) {
  const itemIds = documents.flatMap((of) => ('itemId' in of ? [of.itemId] : []));
  // Without items too: the name of a catalogue may be wrong.
  const items = [...facts.describe(itemIds, catalogue)];
  return documents.map((of, i) => {
    if ('text' in of) return of.text.trim() === '' ? blankText(i) : of.text;
    const field = `documents[${i}].itemId`;
    const item = items.shift();
    const text = item === undefined ? '' : itemText.of(item);
    if (text !== '') return text;
    const named = itemText.slots.join(' or ');
    const expected = item === undefined ? 'an item of the catalogue' : `an item with ${named}`;
    const message = `${field}: expected ${expected}, got ${of.itemId.slice(0, 80)}`;
    return new TesseraError('ITEM_NOT_FOUND', message, { field });
  });
}
