/** The peers of the native catalogue: the constraint step over a trie of objects. */

/** Beams in the order of the last selection. */
export interface Beams<Node> {
  readonly scores: Float32Array;
  readonly nodes: readonly Node[];
}

export interface Selection<Node> {
  readonly scores: Float32Array;
  /** Beam that each came from. */
  readonly parents: Uint32Array;
  readonly codes: Uint32Array;
  /** Undefined after the last level. */
  readonly nodes: readonly (Node | undefined)[];
}

export interface Trie<Node> {
  /**
   * Builds the trie of SIDs of one depth.
   * @param sids codes of all SIDs, laid end to end; in any order, repetitions allowed
   */
  build(sids: Uint32Array, depth: number): Node;
  /**
   * One step: mask by the trie, exact top-k over all beams, next state. Order: score descending,
   * then beam, then code.
   * @param logits [beams][levelSize]
   * @param logSumExp [beams]
   */
  step(
    beams: Beams<Node>,
    logits: Float32Array,
    logSumExp: Float32Array,
    levelSize: number,
    width: number,
  ): Selection<Node>;
}
