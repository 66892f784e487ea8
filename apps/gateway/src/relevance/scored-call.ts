import type { TesseraError } from '@tessera/errors';
import type { CallBytes, Failure } from '@tessera/routing';
import type { Edge } from '../asking.js';
import type { NodeLink } from '../node-link.js';

/** The text of a document, or the ID of an item whose node has the text. */
export type Document = { readonly text: Buffer } | { readonly itemId: Buffer };

/** A part's answer, or why its documents have none; documents by their index in the call. */
export interface Scored<Answer> {
  readonly documents: readonly number[];
  readonly outcome: Answer | TesseraError;
}

/** What a part's answer says of how it was made. */
export interface Usage {
  readonly promptTokens: number;
  readonly computedTokens: number;
  /** Weights and template; '': the form of the answer does not say. */
  readonly version: string;
}

/**
 * A call that scores documents, as its edge has it: nodes are asked for parts of it, and their
 * answers are put together in the caller's order.
 */
export interface ScoredCall<Answer> {
  readonly path: string;
  readonly edge: Edge;
  readonly query: number;
  readonly documents: readonly Document[];
  /** Fails as the first document without a score did. */
  readonly failsWhole: boolean;
  /** Milliseconds until its deadline, counted from the call's begin. */
  readonly leftMs: number;
  readonly isOver: () => boolean;
  readonly onCancelled: (act: () => void) => void;
  readonly failureOf: (thrown: unknown) => Failure;
  /** Of what a node ended a part with. */
  readonly errorOf: (thrown: unknown) => TesseraError;
  /** Documents by their index; `onBegun` gets what ends the request. */
  readonly ask: (
    link: NodeLink,
    documents: readonly number[],
    leftMs: number,
    onBegun: (end: () => void) => void,
  ) => Promise<Answer>;
  readonly usageOf: (answer: Answer) => Usage;
  /** At least one part has an answer. */
  readonly merge: (parts: readonly Scored<Answer>[]) => Answer;
}

/** What a title takes, about. */
const ITEM_TEXT_BYTES = 64;
/** Beginnings are compared so far: documents that have more in common have it all the same. */
const COMMON_BYTES_MAX = 1 << 14;

/** Documents in the order of their bytes, in which what they have in common is a neighbour's. */
export function orderedBytes(
  query: number,
  documents: readonly Document[],
): { readonly order: readonly number[]; readonly bytes: CallBytes } {
  const keys = documents.map((of) => ('text' in of ? of.text : of.itemId));
  const kind = (at: number) => ('text' in (documents[at] as Document) ? 1 : 0);
  const compare = (a: number, b: number) =>
    kind(a) - kind(b) || Buffer.compare(keys[a] as Buffer, keys[b] as Buffer) || a - b;
  const order = documents.map((_, at) => at).sort(compare);
  const sizeOf = (at: number) => (kind(at) === 1 ? (keys[at] as Buffer).length : ITEM_TEXT_BYTES);
  const common = order.map((at, place) => {
    const before = order[place - 1];
    if (before === undefined || kind(before) !== kind(at)) return 0;
    const [a, b] = [keys[before] as Buffer, keys[at] as Buffer];
    if (a.equals(b)) return sizeOf(at);
    return kind(at) === 1 ? commonLength(a, b) : 0;
  });
  return { order, bytes: { query, documents: order.map(sizeOf), common } };
}

function commonLength(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length, COMMON_BYTES_MAX);
  let length = 0;
  while (length < most && a[length] === b[length]) length += 1;
  // Another document of the same length that differs further on is not equal to this one.
  return length === a.length && length === b.length ? length - 1 : length;
}
