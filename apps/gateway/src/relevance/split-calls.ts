import { TesseraError } from '@tessera/errors';
import {
  CostEstimates,
  Lateness,
  type PairWork,
  pairWorkOf,
  partUsOf,
  type SplitNode,
  splitWork,
} from '@tessera/routing';
import type { ForwardCounts } from '../asking.js';
import type { Cluster } from '../cluster.js';
import { type After, type AskedPart, afterMs, PartCall, type ScoringNode } from './part-call.js';
import { namedDocument, renumberedError } from './part-numbers.js';
import { orderedBytes, type Scored, type ScoredCall } from './scored-call.js';
import { SplitTally } from './split-counts.js';

/** Microseconds of a part beside its passes: two connections and two event loops. */
const HOP_US = 1000;

interface Clock {
  readonly nowMs: () => number;
  readonly after: After;
}

const PROCESS_CLOCK: Clock = { nowMs: () => performance.now(), after: afterMs };

/** What befalls a part and says nothing of the request: its documents alone have no score. */
const OF_THE_PART: ReadonlySet<string> = new Set([
  'NODE_UNAVAILABLE',
  ...['ENGINE_OVERLOADED', 'ENGINE_UNAVAILABLE', 'ENGINE_CLOSED'],
  ...['DEADLINE_EXCEEDED', 'INTERNAL'],
]);

/** A part that ended, and when. */
interface Ended<Answer> {
  readonly documents: readonly number[];
  readonly endedMs: number;
  readonly answer: PromiseSettledResult<Answer>;
}

/** Calls that score documents, each split over the nodes that score alike. */
export class SplitCalls {
  readonly tally = new SplitTally();
  private readonly lateness = new Lateness();

  constructor(
    private readonly cluster: Cluster,
    private readonly counts: ForwardCounts,
    private readonly clock: Clock = PROCESS_CLOCK,
  ) {}

  /** Whether a call of so many documents can be split: else a node answers it in its own words. */
  takes(documentCount: number): boolean {
    const [first] = this.nodes();
    return first !== undefined && documentCount > 0 && documentCount <= first.profile.documentsMax;
  }

  /** REQUIRES: takes(). Rejects with what a node said, or with a TesseraError. */
  async score<Answer>(call: ScoredCall<Answer>): Promise<Answer> {
    const { cluster, counts, tally, lateness, clock } = this;
    const parts = { cluster, counts, tally, lateness, nowMs: clock.nowMs, after: clock.after };
    counts.count(call.edge, 'no-user');
    const ended = await Promise.all(
      this.plan(call).map(async (asked): Promise<Ended<Answer>> => {
        const [answer] = await Promise.allSettled([new PartCall(parts, call, asked).run()]);
        return { documents: asked.documents, endedMs: clock.nowMs(), answer };
      }),
    );
    return this.merge(call, ended);
  }

  /** Nodes of the model and template that the greatest weight scores with. */
  private nodes(): readonly ScoringNode[] {
    const weights = new Map<string, number>();
    const all = this.cluster.links().flatMap((link) => {
      const { relevance: profile, state, member } = link;
      if (profile === undefined || state !== 'up') return [];
      const key = `${profile.model} ${profile.template}`;
      weights.set(key, (weights.get(key) ?? 0) + member.weight);
      return [{ link, profile, key }];
    });
    const most = Math.max(...weights.values());
    const decided = all.find(({ key }) => weights.get(key) === most)?.key;
    return all.filter(({ key }) => key === decided);
  }

  private plan<Answer>(call: ScoredCall<Answer>): readonly AskedPart[] {
    const nodes = this.nodes();
    const begunMs = this.clock.nowMs();
    const { order, bytes } = orderedBytes(call.query, call.documents);
    const [{ profile }] = nodes as [ScoringNode];
    const work = pairWorkOf(profile, bytes);
    const split = splitWork(
      work,
      nodes.map((node) => splitNode(node, begunMs)),
    );
    const size = bytes.documents.reduce((sum, count) => sum + count, 0);
    return split.map(({ node, documents: places }) => {
      const part = partOf(work, places);
      // In the caller's order, so that the first that fails is the first of the call.
      const documents = places.map((place) => order[place] as number).sort((a, b) => a - b);
      return {
        documents,
        kind: CostEstimates.kindOf(call.path, (size * places.length) / order.length),
        endsMs: begunMs + call.leftMs,
        first: nodes[node] as ScoringNode,
        usAt: (of) => partUsOf(part, splitNode(of, begunMs)),
        nodes: () => this.nodes(),
      };
    });
  }

  private merge<Answer>(call: ScoredCall<Answer>, ended: readonly Ended<Answer>[]): Answer {
    const failed = ended.flatMap(({ documents, answer }) =>
      answer.status === 'rejected' ? [{ documents, thrown: answer.reason }] : [],
    );
    const isOfRequest = failed.some(({ thrown }) => !OF_THE_PART.has(call.errorOf(thrown).code));
    if (failed.length > 0 && (call.failsWhole || failed.length === ended.length || isOfRequest)) {
      throw firstOf(call, failed);
    }
    const parts = ended.map(({ documents, answer }): Scored<Answer> => {
      if (answer.status === 'fulfilled') return { documents, outcome: answer.value };
      return { documents, outcome: call.errorOf(answer.reason) };
    });
    const answers = ended.flatMap(({ answer }) =>
      answer.status === 'fulfilled' ? [call.usageOf(answer.value)] : [],
    );
    const versions = new Set(answers.map(({ version }) => version));
    if (versions.size > 1) {
      const got = [...versions].join(' and ');
      throw new TesseraError('NODE_UNAVAILABLE', `nodes: expected one relevance model, got ${got}`);
    }
    const shared = answers.reduce((sum, of) => sum + of.promptTokens - of.computedTokens, 0);
    this.tally.noteCall(
      ended.map(({ endedMs }) => endedMs),
      shared,
    );
    return call.merge(parts);
  }
}

function splitNode({ link, profile }: ScoringNode, nowMs: number): SplitNode {
  const { tokenUs, pairUs, passUs } = profile;
  return { tokenUs, pairUs, partUs: passUs + HOP_US, backlogUs: link.work.backlogUs(nowMs) };
}

/** The documents of a part alone, with what they have in common with each other. */
function partOf(work: PairWork, places: readonly number[]): PairWork {
  return {
    sharedTokens: work.sharedTokens,
    keptTokens: work.keptTokens ?? 0,
    tokens: places.map((place) => work.tokens[place] as number),
    common: places.map((place, at) => {
      const before = places[at - 1];
      if (before === undefined) return 0;
      return Math.min(...work.common.slice(before + 1, place + 1));
    }),
  };
}

interface Failed {
  readonly documents: readonly number[];
  readonly thrown: unknown;
}

/** What the call fails with: as the first of its documents that failed. */
function firstOf<Answer>(call: ScoredCall<Answer>, failed: readonly Failed[]): unknown {
  const named = failed.map(({ documents, thrown }) => {
    const error = renumberedError(call.errorOf(thrown), documents);
    const document = namedDocument(error.field ?? error.message);
    return { thrown, error, document: document ?? Math.min(...documents), isNamed: document };
  });
  const first = named.reduce((a, b) => (b.document < a.document ? b : a));
  return first.isNamed === undefined ? first.thrown : first.error;
}
