import { TesseraError } from '@tessera/errors';
import { idIn, memberOf } from '@tessera/httpjson';
import { checkAnswer } from '../node-failure.js';
import { renumbered } from '../relevance/part-numbers.js';
import type { Scored, ScoredCall, Usage } from '../relevance/scored-call.js';
import type { SplitCalls } from '../relevance/split-calls.js';
import type { HttpHop } from './http-hop.js';

type Json = Readonly<Record<string, unknown>>;

interface Result extends Json {
  readonly index: number;
}

/** The parts of an answer of Cohere's form that are put together. */
interface CohereAnswer extends Json {
  readonly model: string;
  readonly usage: { readonly total_tokens: number; readonly computed_tokens: number };
  readonly results: readonly Result[];
  readonly failures: readonly (Result & { readonly message: string })[];
}

/** A body of documents, in one of the forms that nodes take. */
interface RerankForm<Answer> {
  /** Member of the body that has its documents. */
  readonly documentsAt: string;
  /** Bytes of a document's text, or of an item's ID; undefined: it is no document. */
  readonly bytesOf: (value: unknown) => number | undefined;
  readonly failsWhole: (body: Json) => boolean;
  readonly usageOf: (answer: Answer) => Usage;
  readonly merge: (body: Json, parts: readonly Scored<Answer>[]) => Answer;
}

const bytesOfText = (value: unknown): number | undefined =>
  typeof value === 'string' ? Buffer.byteLength(value) : undefined;

/** Best first, equal scores in the order of the request. */
function ranked(results: readonly Result[], scoreAt: string): Result[] {
  const score = (of: Result) => of[scoreAt] as number;
  return [...results].sort((a, b) => score(b) - score(a) || a.index - b.index);
}

/** Results by the documents' index in the call. */
function placed<Of extends Result>(results: readonly Of[], documents: readonly number[]): Of[] {
  return results.map((of) => Object.assign({}, of, { index: documents[of.index] as number }));
}

const COHERE: RerankForm<CohereAnswer> = {
  documentsAt: 'documents',
  bytesOf: (value) => {
    const { text } = Object(value) as Json;
    const itemId = idIn(memberOf(value, 'itemId'));
    if (typeof value === 'string') return bytesOfText(value);
    if (itemId === undefined) return bytesOfText(text);
    return text === undefined ? bytesOfText(itemId) : undefined;
  },
  failsWhole: ({ failures }) => failures === 'whole',
  usageOf: ({ usage, model: version }) => {
    const { total_tokens: promptTokens, computed_tokens: computedTokens } = usage;
    return { promptTokens, computedTokens, version };
  },
  merge: ({ top_n, top_k }, parts) => {
    const count = (top_n ?? top_k ?? Number.POSITIVE_INFINITY) as number;
    const answers = parts.flatMap(({ documents, outcome }) =>
      outcome instanceof TesseraError ? [] : [{ documents, answer: outcome }],
    );
    const sum = (of: (usage: CohereAnswer['usage']) => number) =>
      answers.reduce((all, { answer }) => all + of(answer.usage), 0);
    const results = answers.flatMap(({ documents, answer }) => placed(answer.results, documents));
    return Object.assign({}, answers[0]?.answer, {
      usage: {
        total_tokens: sum((of) => of.total_tokens),
        computed_tokens: sum((of) => of.computed_tokens),
      },
      results: ranked(results, 'relevance_score').slice(0, count),
      failures: parts.flatMap(failuresOf).sort((a, b) => a.index - b.index),
    }) as CohereAnswer;
  },
};

function failuresOf({ documents, outcome }: Scored<CohereAnswer>) {
  if (outcome instanceof TesseraError) {
    const { code, message } = outcome;
    return documents.map((index) => ({ index, code, message }));
  }
  return placed(outcome.failures, documents).map((of) =>
    Object.assign({}, of, { message: renumbered(of.message, documents) }),
  );
}

const TEI: RerankForm<readonly Result[]> = {
  documentsAt: 'texts',
  bytesOf: bytesOfText,
  failsWhole: () => true,
  usageOf: () => ({ promptTokens: 0, computedTokens: 0, version: '' }),
  merge: (_, parts) => {
    const results = parts.flatMap(({ documents, outcome }) =>
      outcome instanceof TesseraError ? [] : placed(outcome, documents),
    );
    return ranked(results, 'score');
  },
};

/** True if a node takes the number, which the body may leave out. */
function isCount(value: unknown): boolean {
  return value === undefined || (Number.isSafeInteger(value) && (value as number) > 0);
}

/**
 * A body that scores documents, split over the nodes. Undefined: it cannot be split, and a node
 * answers it in its own words.
 */
export async function rerankInParts(calls: SplitCalls, hop: HttpHop): Promise<object | undefined> {
  const body = Object(hop.json) as Json;
  const isTei = hop.sent.path === '/rerank' && !('documents' in body);
  return isTei ? inParts(TEI, calls, hop, body) : inParts(COHERE, calls, hop, body);
}

async function inParts<Answer extends object>(
  form: RerankForm<Answer>,
  calls: SplitCalls,
  { sent, deadlineMs, isOver, onCancelled }: HttpHop,
  body: Json,
): Promise<Answer | undefined> {
  const values = body[form.documentsAt];
  if (
    !Array.isArray(values) ||
    !isCount(body.top_n) ||
    !isCount(body.top_k) ||
    !isCount(body.deadline_ms)
  )
    return undefined;
  const documentBytes = values.flatMap((value) => form.bytesOf(value) ?? []);
  if (documentBytes.length !== values.length || !calls.takes(values.length)) return undefined;
  const call: ScoredCall<Answer> = {
    path: sent.path,
    edge: 'http',
    queryBytes: (bytesOfText(body.query) ?? 0) + (bytesOfText(body.instruction) ?? 0),
    documentBytes,
    failsWhole: form.failsWhole(body),
    leftMs: deadlineMs - Date.now(),
    isOver,
    onCancelled,
    ask: async (link, part, leftMs, onBegun) => {
      const own = { [form.documentsAt]: part.map((document) => values[document]) };
      const left =
        body.deadline_ms === undefined ? {} : { deadline_ms: Math.max(1, Math.floor(leftMs)) };
      const bytes = Buffer.from(JSON.stringify(Object.assign({}, body, own, left)));
      const ask = { ...sent, body: bytes, deadlineMs: Date.now() + leftMs, onBegun };
      return JSON.parse(checkAnswer(await link.http(ask)).body.toString()) as Answer;
    },
    usageOf: form.usageOf,
    merge: (parts) => form.merge(body, parts),
  };
  return calls.score(call);
}
