/**
 * Which node scores which documents of a call, so that the last of them ends soonest: longest
 * processing time first (R. L. Graham, "Bounds on multiprocessing timing anomalies", 1969), with
 * backlogs, with what a part costs whatever its documents, and with improving moves. In how many
 * parts, so that calls behind it are not held up by more than it gains: each part computes what all
 * prompts begin with once more.
 */

import { improve } from './improve-split.js';
import { OpenPart } from './open-part.js';
import { PairCosts, type PairRates, type PairWork, type Run } from './pair-work.js';

export interface SplitNode extends PairRates {
  /** Predicted microseconds until the node has done what it has. */
  readonly backlogUs: number;
  /** Of a part, whatever its documents. */
  readonly partUs: number;
}

/** Documents that one node scores. */
export interface Part {
  /** Index of the node. */
  readonly node: number;
  /** In the order of the work. */
  readonly documents: readonly number[];
  /** Predicted microseconds of its own. */
  readonly us: number;
  /** The same with what the node has to do before. */
  readonly finishUs: number;
}

/** A split that ends so much later is as good if it has fewer parts, which compute less. */
const FEWER_PARTS_SHARE = 1.05;
/** Beginnings of so many tokens, and of 4, 16, 64 times as many, keep documents together. */
const FAMILY_TOKENS = [8, 32, 128, 512];
/** A family is cut where it takes more than this share of a mean part; both are tried. */
const FAMILY_SHARES = [1, 0.25];

interface Place {
  readonly node: number;
  readonly costs: PairCosts;
  readonly backlogUs: number;
  readonly partUs: number;
  /** When the first document could begin. */
  readonly beginUs: number;
}

/** REQUIRES: at least one document and one node. */
export function splitWork(work: PairWork, nodes: readonly SplitNode[]): readonly Part[] {
  const places = placesOf(work, nodes);
  const bounds = places.map((_, at) => dividedUs(work, places.slice(0, at + 1)));
  const likeliest = 1 + bounds.indexOf(Math.min(...bounds));
  const whole = work.tokens.map((_, document) => document);
  const [first] = places as [Place];
  const wholeUs = usOn(first, whole);
  const delays = delaysOfOthers(nodes, wholeUs);
  let bestUs = Number.POSITIVE_INFINITY;
  const splits: { readonly parts: readonly OpenPart[]; readonly us: number }[] = [];
  for (let count = likeliest; count > 0; count -= 1) {
    if ((bounds[count - 1] as number) > bestUs * FEWER_PARTS_SHARE) continue;
    const parts = count === 1 ? onOne(places, whole) : splitOver(work, places.slice(0, count));
    // On one node: that another one is slower is no work that is done twice.
    const moreUs = parts.reduce((sum, { documents }) => sum + usOn(first, documents), 0) - wholeUs;
    const us = finishOf(parts) + delays * moreUs;
    bestUs = Math.min(bestUs, us);
    splits.push({ parts, us });
  }
  const good = splits.filter(({ us }) => us <= bestUs * FEWER_PARTS_SHARE);
  return partsOf((good.at(-1) as (typeof good)[number]).parts);
}

/** Microseconds of documents as one part of a node. */
function usOn({ costs, partUs }: Place, documents: readonly number[]): number {
  return partUs + costs.sharedUs + costs.documentsUs(documents);
}

/** All documents on the node that ends soonest. */
function onOne(places: readonly Place[], whole: readonly number[]): readonly OpenPart[] {
  const run = { first: 0, last: whole.length - 1 };
  const parts = places.map((of) => {
    const part = new OpenPart(of.node, of.costs, of.backlogUs, of.partUs);
    part.add(run);
    return part;
  });
  return [parts.reduce((a, b) => (b.finishUs < a.finishUs ? b : a))];
}

/**
 * By how much calls behind this one end later, all together, for each microsecond that it computes
 * more. At one server of calls of one size s the mean wait is W = r s / 2 (1 - r), r the share of
 * its time that it works (Pollaczek and Khinchine); so dW/ds = 2 w (1 + w) where w is W / s, which
 * is what nodes have to do over what this call has.
 */
function delaysOfOthers(nodes: readonly SplitNode[], wholeUs: number): number {
  const backlogUs = nodes.reduce((sum, node) => sum + node.backlogUs, 0) / nodes.length;
  const waits = backlogUs / wholeUs;
  return 2 * waits * (1 + waits);
}

/** Predicted microseconds of all documents as one part of a node, without its backlog. */
export function partUsOf(work: PairWork, node: Omit<SplitNode, 'backlogUs'>): number {
  const costs = new PairCosts(work, node);
  return node.partUs + costs.sharedUs + costs.runUs({ first: 0, last: work.tokens.length - 1 });
}

/**
 * Microseconds before which nobody could end: as if documents were divisible and computed what
 * they have in common once, and not before any document alone. It is a bound where the rates of
 * nodes differ by a factor.
 */
export function lowerBoundUs(work: PairWork, nodes: readonly SplitNode[]): number {
  const places = placesOf(work, nodes);
  let boundUs = Math.min(...places.map((_, at) => dividedUs(work, places.slice(0, at + 1))));
  for (let document = 0; document < work.tokens.length; document += 1) {
    const alone = places.map(({ beginUs, costs }) => beginUs + costs.documentUs(document, 0));
    boundUs = Math.max(boundUs, Math.min(...alone));
  }
  return boundUs;
}

/** Nodes, those first that could begin first. */
function placesOf(work: PairWork, nodes: readonly SplitNode[]): readonly Place[] {
  return nodes
    .map((of, node) => {
      const costs = new PairCosts(work, of);
      const { backlogUs, partUs } = of;
      return { node, costs, backlogUs, partUs, beginUs: backlogUs + partUs + costs.sharedUs };
    })
    .sort((a, b) => a.beginUs - b.beginUs || a.node - b.node);
}

/** When all nodes end together that share divisible documents. */
function dividedUs({ tokens }: PairWork, places: readonly Place[]): number {
  const whole = { first: 0, last: tokens.length - 1 };
  let [shares, begun] = [0, 0];
  for (const { costs, beginUs } of places) {
    const us = Math.max(Number.MIN_VALUE, costs.runUs(whole));
    shares += 1 / us;
    begun += beginUs / us;
  }
  return (1 + begun) / shares;
}

function splitOver(work: PairWork, places: readonly Place[]): readonly OpenPart[] {
  const largest = work.common.reduce((a, b) => Math.max(a, b), 0);
  const families = FAMILY_TOKENS.filter((tokens) => tokens <= largest).flatMap((tokens) =>
    FAMILY_SHARES.map((share) => familiesOf(work, places, tokens, share)),
  );
  const splits = [work.tokens.map((_, at) => ({ first: at, last: at })), ...families].map(
    (runs) => {
      const parts = longestFirst(runs, places);
      improve(parts);
      return parts.filter(({ isEmpty }) => !isEmpty);
    },
  );
  return splits.reduce((a, b) => (finishOf(b) < finishOf(a) ? b : a));
}

/** Neighbours with so many tokens in common, in runs that are small beside a part. */
function familiesOf(
  { tokens, common }: PairWork,
  places: readonly Place[],
  familyTokens: number,
  share: number,
): readonly Run[] {
  const [{ costs }] = places as [Place];
  const whole = { first: 0, last: tokens.length - 1 };
  const mostUs = (costs.runUs(whole) / places.length) * share;
  const runs: Run[] = [];
  for (let document = 0; document < tokens.length; document += 1) {
    const run = runs.at(-1);
    const longer = run && { first: run.first, last: document };
    const isOne = longer !== undefined && (common[document] as number) >= familyTokens;
    if (isOne && costs.runUs(longer) <= mostUs) runs[runs.length - 1] = longer;
    else runs.push({ first: document, last: document });
  }
  return runs;
}

function longestFirst(runs: readonly Run[], places: readonly Place[]): readonly OpenPart[] {
  const [{ costs }] = places as [Place];
  const parts = places.map((of) => new OpenPart(of.node, of.costs, of.backlogUs, of.partUs));
  const sized = runs.map((run) => ({ run, us: costs.runUs(run) }));
  sized.sort((a, b) => b.us - a.us || a.run.first - b.run.first);
  for (const { run } of sized) {
    let best = parts[0] as OpenPart;
    let bestUs = Number.POSITIVE_INFINITY;
    for (const part of parts) {
      const us = part.finishWithUs(run);
      if (us >= bestUs) continue;
      bestUs = us;
      best = part;
    }
    best.add(run);
  }
  return parts;
}

function finishOf(parts: readonly OpenPart[]): number {
  return Math.max(...parts.map(({ finishUs }) => finishUs));
}

function partsOf(parts: readonly OpenPart[]): readonly Part[] {
  return parts.map(({ node, documents, us, finishUs }) => ({ node, documents, us, finishUs }));
}
