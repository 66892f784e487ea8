/** A node that documents may go to. */
export interface SplitNode {
  /** Predicted microseconds until the node has done what it has. */
  readonly backlogUs: number;
  /** Predicted microseconds of a token. */
  readonly tokenUs: number;
}

interface Split {
  /** Per node its documents. */
  readonly parts: readonly number[][];
  /** When the last part ends. */
  readonly endUs: number;
  /** Work of all parts. */
  readonly workUs: number;
}

/**
 * Maximum share of the time that one more part may leave, as each part computes the prefix again.
 */
const GAIN_SHARE = 0.95;

/**
 * Which node scores which documents of a call: the longest first, each on the node that then ends
 * soonest (R. L. Graham, "Bounds on multiprocessing timing anomalies", 1969), over as many nodes as
 * are worth what their parts compute again. `tokens`: of each document; `partTokens`: of what every
 * part computes beside its documents. REQUIRES: at least one node.
 * @returns per node its documents in the caller's order, none for a node without a part
 */
export function longestFirst(
  tokens: readonly number[],
  partTokens: number,
  nodes: readonly SplitNode[],
): readonly (readonly number[])[] {
  const order = tokens.map((_, document) => document);
  order.sort((a, b) => (tokens[b] as number) - (tokens[a] as number) || a - b);
  const beginUs = ({ backlogUs, tokenUs }: SplitNode) => backlogUs + partTokens * tokenUs;
  const first = nodes.map((_, node) => node);
  first.sort((a, b) => beginUs(nodes[a] as SplitNode) - beginUs(nodes[b] as SplitNode) || a - b);
  const over = (count: number) =>
    split(tokens, order, partTokens, nodes, new Set(first.slice(0, count)));
  let best = over(1);
  const delays = delaysOfOthers(nodes, best.workUs);
  let bestUs = best.endUs + delays * best.workUs;
  for (let count = 2; count <= nodes.length; count += 1) {
    const next = over(count);
    const us = next.endUs + delays * next.workUs;
    if (us >= bestUs * GAIN_SHARE) continue;
    bestUs = us;
    best = next;
  }
  return best.parts.map((part) => part.sort((a, b) => a - b));
}

function split(
  tokens: readonly number[],
  order: readonly number[],
  partTokens: number,
  nodes: readonly SplitNode[],
  used: ReadonlySet<number>,
): Split {
  const parts: number[][] = nodes.map(() => []);
  const ends = nodes.map(({ backlogUs, tokenUs }, node) =>
    used.has(node) ? backlogUs + partTokens * tokenUs : Number.POSITIVE_INFINITY,
  );
  for (const document of order) {
    const size = tokens[document] as number;
    const withIt = nodes.map(({ tokenUs }, node) => (ends[node] as number) + size * tokenUs);
    const best = withIt.indexOf(Math.min(...withIt));
    ends[best] = withIt[best] as number;
    parts[best]?.push(document);
  }
  let [endUs, workUs] = [0, 0];
  for (const [node, part] of parts.entries()) {
    if (part.length === 0) continue;
    endUs = Math.max(endUs, ends[node] as number);
    workUs += (ends[node] as number) - (nodes[node] as SplitNode).backlogUs;
  }
  return { parts, endUs, workUs };
}

/**
 * By how much calls behind this one end later, all together, for each microsecond that it computes
 * more. At one server of calls of one size s the mean wait is W = r s / 2 (1 - r), r the share of
 * its time that it works (Pollaczek and Khinchine); so dW/ds = 2 w (1 + w) where w is W / s, which
 * is what nodes have to do over what this call has.
 */
function delaysOfOthers(nodes: readonly SplitNode[], wholeUs: number): number {
  if (wholeUs === 0) return 0;
  const backlogUs = nodes.reduce((sum, node) => sum + node.backlogUs, 0) / nodes.length;
  const waits = backlogUs / wholeUs;
  return 2 * waits * (1 + waits);
}
