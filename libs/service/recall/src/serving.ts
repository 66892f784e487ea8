import {
  type AdapterLease,
  type Adapters,
  BASE_LEASE,
  DEFAULT_RANKING,
  ranksApart,
} from '@tessera/adapter';
import type { KvPool, Reach } from '@tessera/engine';
import type { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { answerAgain } from './adapter-probe.js';
import type {
  AppendAnswer,
  ExplainAnswer,
  RankAnswer,
  RecallAnswer,
  ScoreAnswer,
} from './domain/answer/answer-types.js';
import { worthOf } from './domain/phases/ranker.js';
import type {
  ExplainRequest,
  Rank,
  RankRequest,
  RecallContext,
  RecallRequest,
  ScoreRequest,
  UserSource,
} from './domain/request/request-types.js';
import type { RecallServing } from './domain/runtime-types.js';
import { pinVersion } from './domain/tasks/pin-version.js';
import type { UseCases } from './domain/tasks/use-cases.js';
import type { ServedCatalogues } from './served-catalogues.js';

const BASE = 'base';

export interface ServingParts {
  readonly catalogues: ServedCatalogues;
  readonly adapters: Adapters | undefined;
  readonly erasures: Erasures;
  readonly kvPool: KvPool;
}

/**
 * Finds for each request its catalogue and the versions that it runs with and that rank for it,
 * held from their choice to the answer. Requests reject as their use case does, and with
 * ADAPTER_NOT_FOUND or ADAPTER_STATE.
 */
export class Serving implements RecallServing {
  readonly erasures: Erasures;

  constructor(private readonly parts: ServingParts) {
    this.erasures = parts.erasures;
  }

  async recall(request: RecallRequest, context: RecallContext): Promise<RecallAnswer> {
    const useCases = this.of(request);
    const leases = this.leasesOf(request, request.rank);
    const started = performance.now();
    const observed = (outcome: RecallAnswer | TesseraError) => {
      this.observe(useCases, request, { leases, outcome, ms: performance.now() - started });
    };
    return held(leases, async (versions) => {
      try {
        const recalled = await useCases.recall(request, { ...context, ...versions });
        const answer = { ...recalled, arm: leases.own.arm };
        observed(answer);
        return answer;
      } catch (thrown) {
        observed(TesseraError.from(thrown));
        throw thrown;
      }
    });
  }

  async score(request: ScoreRequest, context: RecallContext): Promise<ScoreAnswer> {
    const useCases = this.of(request);
    return held(this.leasesOf(request), (versions) =>
      useCases.score(request, { ...context, ...versions }),
    );
  }

  async rank(request: RankRequest, context: RecallContext): Promise<RankAnswer> {
    const useCases = this.of(request);
    return held(this.leasesOf(request, request.rank), (versions) =>
      useCases.rank(request, { ...context, ...versions }),
    );
  }

  /** With the version of the answer in question, or with what the request would get now. */
  async explain(request: ExplainRequest, context: RecallContext): Promise<ExplainAnswer> {
    const { recall, versions } = request;
    const useCases = this.of(recall);
    const source =
      versions === undefined ? recall : { ...recall, adapter: versions.adapter || BASE };
    return held(this.leasesOf(source, recall.rank), (versions) =>
      useCases.explain(request, { ...context, ...versions }),
    );
  }

  async append(request: UserSource, context: RecallContext): Promise<AppendAnswer> {
    const useCases = this.of(request);
    const { userId } = request;
    if (userId !== undefined) this.parts.adapters?.appended(userId);
    return held(this.leasesOf(request), (versions) =>
      useCases.append(request, { ...context, ...versions }),
    );
  }

  async pin(request: RecallRequest, sequence: number): Promise<Reach> {
    const { catalogue } = this.parts.catalogues.of(request.catalogue);
    return pinVersion(catalogue, request, sequence);
  }

  async forgetUser(userId: string, budgetMs: number, at?: number): Promise<void> {
    const { catalogues, kvPool } = this.parts;
    this.erasures.note(userId);
    for (const { useCases } of catalogues.all) useCases.forget(userId);
    await kvPool.dropUser(userId, budgetMs, at);
  }

  private of({ catalogue }: UserSource): UseCases {
    return this.parts.catalogues.of(catalogue).useCases;
  }

  private leaseOf({ adapter = '', userId, history = [] }: UserSource): AdapterLease {
    const { adapters } = this.parts;
    if (adapters !== undefined) return adapters.choose(adapter, userId ?? history.join('\n'));
    if (adapter === '' || adapter === BASE) return BASE_LEASE;
    const message = `adapter: expected '${BASE}', no adapters are kept here, got '${adapter}'`;
    throw new TesseraError('ADAPTER_NOT_FOUND', message.slice(0, 200), { field: 'adapter' });
  }

  /** @throws TesseraError also ADAPTER_NOT_FOUND naming `rank.adapter` */
  private leasesOf(source: UserSource, rank?: Rank): Leases {
    const own = this.leaseOf(source);
    if (rank === undefined) return { own, ranker: undefined };
    try {
      const adapter = rank.adapter || DEFAULT_RANKING;
      return { own, ranker: this.leaseOf({ ...source, adapter }) };
    } catch (thrown) {
      own.release();
      const { code, message } = TesseraError.from(thrown);
      const named = `rank.${message}`;
      throw new TesseraError(code, named, { field: 'rank.adapter', cause: thrown });
    }
  }

  /**
   * Shows the outcome to the watches over canaries of both versions, which may want it of others as
   * well.
   */
  private observe(useCases: UseCases, request: RecallRequest, seen: SeenOutcome): void {
    const { adapters } = this.parts;
    const { leases, outcome, ms } = seen;
    const { own, ranker } = leases;
    const isAnswer = !(outcome instanceof TesseraError);
    const { userId } = request;
    const again = (versions: Versions) =>
      answerAgain(useCases, sameDraw(request, outcome), versions);
    adapters?.observe(own, {
      userId,
      ms,
      outcome: isAnswer ? { items: outcome.items, isShort: outcome.short } : outcome,
      again: async (adapter) =>
        ranker === undefined || isOne(leases)
          ? again({ adapter, ranker: ranker && adapter })
          : held(this.leasesOf(request, request.rank), (now) => again({ ...now, adapter })),
    });
    if (ranker === undefined || ranker.name === own.name) return;
    adapters?.observeRanking(ranker, {
      userId,
      ms,
      outcome: isAnswer ? { items: ofRanking(outcome), isShort: outcome.short } : outcome,
      again: async (version) =>
        held(this.leasesOf(request), (now) => again({ ...now, ranker: version })),
    });
  }
}

/** Versions that a request runs with; undefined: the base model alone, and none that ranks. */
type Versions = Pick<RecallContext, 'adapter' | 'ranker'>;

interface Leases {
  readonly own: AdapterLease;
  /** Undefined: nothing is to be ranked. */
  readonly ranker: AdapterLease | undefined;
}

interface SeenOutcome {
  readonly leases: Leases;
  readonly outcome: RecallAnswer | TesseraError;
  readonly ms: number;
}

/** True if the request's own adapter has to be the one that ranks. */
function isOne({ own, ranker }: Leases): boolean {
  const adapter = ranker?.adapter;
  return (
    adapter?.digest === own.adapter?.digest && adapter !== undefined && !ranksApart(adapter.engine)
  );
}

/** Items by what they went by: scores are the recall's. */
const ofRanking = ({ items, ranking }: RecallAnswer) =>
  items.map((item) => ({ itemId: item.itemId, score: worthOf(item, ranking) }));

/** The request with the seed of its answer: another version is compared on the same draw. */
function sameDraw(request: RecallRequest, outcome: RecallAnswer | TesseraError): RecallRequest {
  const { explore } = request;
  const drawn = outcome instanceof TesseraError ? undefined : outcome.exploration;
  if (explore === undefined || drawn === undefined) return request;
  return { ...request, explore: { ...explore, seed: drawn.seed } };
}

async function held<Answer>(
  { own, ranker }: Leases,
  act: (versions: Versions) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await act({ adapter: own.adapter, ranker: ranker?.adapter });
  } finally {
    own.release();
    ranker?.release();
  }
}
