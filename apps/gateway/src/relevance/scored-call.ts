import type { TesseraError } from '@tessera/errors';
import type { Edge } from '../asking.js';
import type { NodeLink } from '../node-link.js';

/** A part's answer, or why its documents have none; documents by their index in the call. */
export interface Scored<Answer> {
  readonly documents: readonly number[];
  readonly outcome: Answer | TesseraError;
}

/** Facts of a part's answer about how it was made. */
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
  /** Bytes of what prompts have before their document: the query and the instruction. */
  readonly queryBytes: number;
  /** Per document: bytes of its text, or of the ID of an item whose text its node has. */
  readonly documentBytes: readonly number[];
  /** Fails as the first document without a score did. */
  readonly failsWhole: boolean;
  /** Milliseconds until its deadline, counted from the call's begin. */
  readonly leftMs: number;
  readonly isOver: () => boolean;
  readonly onCancelled: (act: () => void) => void;
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
