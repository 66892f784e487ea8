import { type AdapterLease, type Adapters, BASE_LEASE, type ServedAdapter } from '@tessera/adapter';
import type { KvPool, Reach } from '@tessera/engine';
import type { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { answerAgain } from './adapter-probe.js';
import { pinVersion } from './domain/reach-request.js';
import type {
  AppendAnswer,
  ExplainAnswer,
  ExplainRequest,
  RecallAnswer,
  RecallContext,
  RecallRequest,
  ScoreAnswer,
  ScoreRequest,
  UserSource,
} from './domain/recall-types.js';
import type { RecallServing } from './domain/runtime-types.js';
import type { UseCases } from './domain/use-cases.js';
import type { ServedCatalogues } from './served-catalogues.js';

const BASE = 'base';

export interface ServingParts {
  readonly catalogues: ServedCatalogues;
  readonly adapters: Adapters | undefined;
  readonly erasures: Erasures;
  readonly kvPool: KvPool;
}

/**
 * Finds for each request its catalogue and the version of the adapter that it runs with, which is
 * held from its choice to the answer. Requests reject as their use case does, and with
 * ADAPTER_NOT_FOUND or ADAPTER_STATE.
 */
export class Serving implements RecallServing {
  readonly erasures: Erasures;

  constructor(private readonly parts: ServingParts) {
    this.erasures = parts.erasures;
  }

  async recall(request: RecallRequest, context: RecallContext): Promise<RecallAnswer> {
    const useCases = this.of(request);
    const lease = this.leaseOf(request);
    const started = performance.now();
    const observed = (outcome: RecallAnswer | TesseraError) => {
      this.observe(useCases, request, { lease, outcome, ms: performance.now() - started });
    };
    return held(lease, async (adapter) => {
      try {
        const recalled = await useCases.recall(request, { ...context, adapter });
        const answer = { ...recalled, arm: lease.arm };
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
    return held(this.leaseOf(request), (adapter) =>
      useCases.score(request, { ...context, adapter }),
    );
  }

  /** With the version of the answer in question, or with what the request would get now. */
  async explain(request: ExplainRequest, context: RecallContext): Promise<ExplainAnswer> {
    const { recall, versions } = request;
    const useCases = this.of(recall);
    const source =
      versions === undefined ? recall : { ...recall, adapter: versions.adapter || BASE };
    return held(this.leaseOf(source), (adapter) =>
      useCases.explain(request, { ...context, adapter }),
    );
  }

  async append(request: UserSource, context: RecallContext): Promise<AppendAnswer> {
    const useCases = this.of(request);
    return held(this.leaseOf(request), (adapter) =>
      useCases.append(request, { ...context, adapter }),
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

  /** Shows the outcome to the watch over canaries, which may want it of another version as well. */
  private observe(
    useCases: UseCases,
    request: RecallRequest,
    seen: { lease: AdapterLease; outcome: RecallAnswer | TesseraError; ms: number },
  ): void {
    const { lease, outcome, ms } = seen;
    const isAnswer = !(outcome instanceof TesseraError);
    this.parts.adapters?.observe(lease, {
      userId: request.userId,
      ms,
      outcome: isAnswer ? { items: outcome.items, isShort: outcome.short } : outcome,
      again: async (adapter) => answerAgain(useCases, sameDraw(request, outcome), adapter),
    });
  }
}

/** The request with the seed of its answer: another version is compared on the same draw. */
function sameDraw(request: RecallRequest, outcome: RecallAnswer | TesseraError): RecallRequest {
  const { explore } = request;
  const drawn = outcome instanceof TesseraError ? undefined : outcome.exploration;
  if (explore === undefined || drawn === undefined) return request;
  return { ...request, explore: { ...explore, seed: drawn.seed } };
}

async function held<Answer>(
  lease: AdapterLease,
  act: (adapter: ServedAdapter | undefined) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await act(lease.adapter);
  } finally {
    lease.release();
  }
}
