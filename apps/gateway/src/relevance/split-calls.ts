import type { RelevanceProfile } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { askInTurn, CostEstimates, longestFirst } from '@tessera/routing';
import { type ForwardCounts, noNode } from '../asking.js';
import type { Cluster } from '../cluster.js';
import { errorOf, failureOf } from '../node-failure.js';
import type { NodeLink } from '../node-link.js';
import { namedDocument, renumberedError } from './part-numbers.js';
import type { Scored, ScoredCall } from './scored-call.js';
import { SplitTally } from './split-counts.js';

/** Without a tokenizer: about what languages take. One ratio for all keeps parts even. */
const BYTES_PER_TOKEN = 4;
/** Tokens of a document whatever its text: the title of an item, of which only the ID is here. */
const DOCUMENT_TOKENS = 16;
/** Tokens of a part whatever its documents: the template, its passes and the way to the node. */
const PART_TOKENS = 64;
/** A node has its answer ready so long before the call's deadline, or a tenth of what is left. */
const RETURN_MS = 10;
const RETURN_SHARE = 0.1;

/** Failures of a part alone, not of the request: its documents have no score. */
const OF_THE_PART: ReadonlySet<string> = new Set([
  'NODE_UNAVAILABLE',
  ...['ENGINE_OVERLOADED', 'ENGINE_UNAVAILABLE', 'ENGINE_CLOSED'],
  ...['DEADLINE_EXCEEDED', 'INTERNAL'],
]);

/** A node that scores, and what it says of itself. */
interface ScoringNode {
  readonly link: NodeLink;
  readonly profile: RelevanceProfile;
}

/** Documents of one call that one node scores, by their index in the call. */
interface Part {
  readonly documents: readonly number[];
  readonly tokens: number;
  readonly first: ScoringNode;
}

/** A part that ended, and when. */
interface Ended<Answer> {
  readonly documents: readonly number[];
  readonly endedMs: number;
  readonly answer: PromiseSettledResult<Answer>;
}

/** Calls that score documents, each split over the nodes that score alike. */
export class SplitCalls {
  readonly tally = new SplitTally();

  constructor(
    private readonly cluster: Cluster,
    private readonly counts: ForwardCounts,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** True for a call of so many documents that can be split: else a node answers it alone. */
  takes(documentCount: number): boolean {
    const [first] = this.nodes();
    return first !== undefined && documentCount > 0 && documentCount <= first.profile.documentsMax;
  }

  /** REQUIRES: takes(). Rejects with what a node said, or with a TesseraError. */
  async score<Answer>(call: ScoredCall<Answer>): Promise<Answer> {
    this.counts.count(call.edge, 'no-user');
    const endsMs = this.nowMs() + call.leftMs;
    const ended = await Promise.all(
      this.parts(call).map(async (part): Promise<Ended<Answer>> => {
        const [answer] = await Promise.allSettled([this.ask(call, part, endsMs)]);
        return { documents: part.documents, endedMs: this.nowMs(), answer };
      }),
    );
    return this.merge(call, ended);
  }

  /** Nodes of the model and template that the greatest weight scores with. */
  private nodes(): readonly ScoringNode[] {
    const weights = new Map<string, number>();
    const all = this.cluster.links().flatMap((link) => {
      const { relevance: profile, member } = link;
      if (profile === undefined || !this.cluster.takes(link, 'answer')) return [];
      const key = `${profile.model} ${profile.template}`;
      weights.set(key, (weights.get(key) ?? 0) + member.weight);
      return [{ link, profile, key }];
    });
    const most = Math.max(...weights.values());
    const decided = all.find(({ key }) => weights.get(key) === most)?.key;
    return all.filter(({ key }) => key === decided);
  }

  private parts<Answer>({ queryBytes, documentBytes }: ScoredCall<Answer>): readonly Part[] {
    const nodes = this.nodes();
    const tokens = documentBytes.map((bytes) => DOCUMENT_TOKENS + tokensOf(bytes));
    const own = PART_TOKENS + tokensOf(queryBytes);
    const nowMs = this.nowMs();
    const split = longestFirst(
      tokens,
      own,
      nodes.map(({ link, profile }) => ({
        backlogUs: link.work.backlogUs(nowMs),
        tokenUs: profile.tokenUs,
      })),
    );
    return split.flatMap((documents, node) => {
      if (documents.length === 0) return [];
      const sum = documents.reduce((all, document) => all + (tokens[document] as number), own);
      return { documents, tokens: sum, first: nodes[node] as ScoringNode };
    });
  }

  /** A node that is lost or refuses the part before it begins is followed by the next one. */
  private async ask<Answer>(
    call: ScoredCall<Answer>,
    { documents, tokens, first }: Part,
    endsMs: number,
  ): Promise<Answer> {
    const { cluster, counts, nowMs } = this;
    const kind = CostEstimates.kindOf(call.path, tokens * BYTES_PER_TOKEN);
    let cancel: () => void = () => undefined;
    call.onCancelled(() => cancel());
    const asked = await askInTurn<ScoringNode, Answer>(
      {
        next: (without) => {
          if (without.length === 0) return first;
          const next = this.leastLoaded(without);
          if (next !== undefined) counts.retries += 1;
          return next;
        },
        nameOf: ({ link }) => link.member.name,
        begin: ({ link, profile }) => {
          const endWork = link.work.begin(tokens * profile.tokenUs, nowMs());
          const endCount = cluster.begin(link, kind);
          return (isAnswered) => {
            endWork(nowMs());
            endCount(isAnswered);
          };
        },
        failureOf,
        lost: ({ link }, thrown) => cluster.lost(link, (thrown as Error).message),
        isOver: call.isOver,
      },
      ({ link }) => {
        const leftMs = endsMs - nowMs();
        const nodeMs = leftMs - Math.min(RETURN_MS, leftMs * RETURN_SHARE);
        return call.ask(link, documents, nodeMs, (end) => {
          cancel = end;
        });
      },
    );
    if (asked.isAnswered) return asked.answer;
    throw asked.refusal ?? noNode(cluster);
  }

  /** Node that will be free first, among those that were not asked. */
  private leastLoaded(without: readonly string[]): ScoringNode | undefined {
    const nowMs = this.nowMs();
    const others = this.nodes().filter(({ link }) => !without.includes(link.member.name));
    const loads = others.map(({ link }) => link.work.backlogUs(nowMs));
    return others[loads.indexOf(Math.min(...loads))];
  }

  private merge<Answer>(call: ScoredCall<Answer>, ended: readonly Ended<Answer>[]): Answer {
    const failed = ended.flatMap(({ documents, answer }) =>
      answer.status === 'rejected' ? [{ documents, thrown: answer.reason }] : [],
    );
    this.tally.parts.failed += failed.length;
    const isOfRequest = failed.some(({ thrown }) => !OF_THE_PART.has(errorOf(thrown).code));
    if (failed.length > 0 && (call.failsWhole || failed.length === ended.length || isOfRequest)) {
      throw firstOf(failed);
    }
    const parts = ended.map(({ documents, answer }): Scored<Answer> => {
      if (answer.status === 'fulfilled') return { documents, outcome: answer.value };
      return { documents, outcome: errorOf(answer.reason) };
    });
    const answers = ended.flatMap(({ answer }) =>
      answer.status === 'fulfilled' ? [call.usageOf(answer.value)] : [],
    );
    const versions = new Set(answers.map(({ version }) => version));
    if (versions.size > 1) {
      const got = [...versions].join(' and ');
      throw new TesseraError('NODE_UNAVAILABLE', `nodes: expected one relevance model, got ${got}`);
    }
    this.tally.parts.answered += answers.length;
    const shared = answers.reduce((sum, of) => sum + of.promptTokens - of.computedTokens, 0);
    this.tally.noteCall(
      ended.map(({ endedMs }) => endedMs),
      shared,
    );
    return call.merge(parts);
  }
}

function tokensOf(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

interface Failed {
  readonly documents: readonly number[];
  readonly thrown: unknown;
}

/** The error of the call: that of the first document that failed. */
function firstOf(failed: readonly Failed[]): unknown {
  const named = failed.map(({ documents, thrown }) => {
    const error = renumberedError(errorOf(thrown), documents);
    const document = namedDocument(error.field ?? error.message);
    return { thrown, error, document: document ?? Math.min(...documents), isNamed: document };
  });
  const first = named.reduce((a, b) => (b.document < a.document ? b : a));
  return first.isNamed === undefined ? first.thrown : first.error;
}
