import type { Failure } from './failures.js';

/** Nodes that are asked for one request at most: the owner and its successors. */
export const ATTEMPTS_MAX = 3;
const NONE: readonly string[] = [];

/** How one request goes from node to node. */
export interface InTurn<Node> {
  /** The node to be asked, none of these; undefined: no other one takes it. */
  readonly next: (without: readonly string[]) => Node | undefined;
  readonly nameOf: (node: Node) => string;
  /** A node is asked. @returns what ends that; `isAnswered`: it has answered */
  readonly begin: (node: Node) => (isAnswered: boolean) => void;
  readonly failureOf: (thrown: unknown) => Failure;
  /** A node was found to be away. */
  readonly lost: (node: Node, thrown: unknown) => void;
  /** True if no caller waits any more, or the deadline has passed. */
  readonly isOver: () => boolean;
}

export type AskedInTurn<Answer> =
  | { readonly isAnswered: true; readonly answer: Answer }
  /** No node is left; `refusal`: of the last one that was busy, undefined where none was. */
  | { readonly isAnswered: false; readonly refusal: unknown };

/**
 * Asks the owner of a user, and its successors where it is away or refuses before it begins. `act`
 * must be repeatable: it rejects only where no byte of an answer has come. Rejects with a failure
 * that is final, and with any failure where the request is over.
 */
export async function askInTurn<Node, Answer>(
  { next, nameOf, begin, failureOf, lost, isOver }: InTurn<Node>,
  act: (node: Node) => Promise<Answer>,
): Promise<AskedInTurn<Answer>> {
  let without = NONE;
  let refusal: unknown;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const node = next(without);
    if (node === undefined) break;
    const end = begin(node);
    try {
      const answer = await act(node);
      end(true);
      return { isAnswered: true, answer };
    } catch (thrown) {
      end(false);
      const failure = failureOf(thrown);
      if (failure === 'final' || isOver()) throw thrown;
      if (failure === 'away') lost(node, thrown);
      else refusal = thrown;
      without = [...without, nameOf(node)];
    }
  }
  return { isAnswered: false, refusal };
}
