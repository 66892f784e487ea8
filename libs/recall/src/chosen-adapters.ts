import {
  type AdapterLease,
  type AdapterProbe,
  type Adapters,
  BASE_LEASE,
  type ProbeAnswer,
  type ServedAdapter,
} from '@tessera/adapter';
import type { BehaviourStore } from '@tessera/behaviour';
import { TesseraError } from '@tessera/errors';
import type { Recall } from './domain/recall.js';
import type {
  ExplainRequest,
  RecallAnswer,
  RecallContext,
  RecallRequest,
  UserSource,
} from './domain/recall-types.js';

/** Microseconds that an answer which nobody waits for may take. */
const OWN_BUDGET_US = 60_000_000;
const BASE = 'base';

/** Behind all who want answers, and nobody asks about it later. */
function ownContext(adapter: ServedAdapter | undefined, signal: AbortSignal): RecallContext {
  return { adapter, signal, budgetUs: OWN_BUDGET_US, isOwn: true };
}

/** The version that each request runs with, held from its choice to its answer. */
export class ChosenAdapters {
  constructor(private readonly adapters: Adapters | undefined) {}

  /** Rejects as Recall.run does, and with ADAPTER_NOT_FOUND or ADAPTER_STATE. */
  async recall(
    recall: Recall,
    request: RecallRequest,
    context: RecallContext,
  ): Promise<RecallAnswer> {
    const lease = this.leaseOf(request);
    const started = performance.now();
    const observed = (outcome: RecallAnswer | TesseraError) =>
      this.observe(recall, request, {
        ...{ lease, outcome, ms: performance.now() - started },
      });
    try {
      const answer = await recall.run(request, { ...context, adapter: lease.adapter });
      observed(answer);
      return answer;
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      observed(error);
      throw thrown;
    } finally {
      lease.release();
    }
  }

  async with<Answer>(
    request: UserSource,
    act: (adapter: ServedAdapter | undefined) => Promise<Answer>,
  ): Promise<Answer> {
    return acted(this.leaseOf(request), act);
  }

  /** With the version of the answer in question, or with what the request would get now. */
  async withThatOf<Answer>(
    { recall, versions }: ExplainRequest,
    act: (adapter: ServedAdapter | undefined) => Promise<Answer>,
  ): Promise<Answer> {
    if (versions === undefined) return this.with(recall, act);
    return acted(this.leaseOf({ ...recall, adapter: versions.adapter || BASE }), act);
  }

  private leaseOf({ adapter = '', userId, history = [] }: UserSource): AdapterLease {
    if (this.adapters !== undefined) {
      return this.adapters.choose(adapter, userId ?? history.join('\n'));
    }
    if (adapter === '' || adapter === BASE) return BASE_LEASE;
    const message = `adapter: expected '${BASE}', no adapters are kept here, came '${adapter}'`;
    throw new TesseraError('ADAPTER_NOT_FOUND', message.slice(0, 200), { field: 'adapter' });
  }

  private observe(
    recall: Recall,
    request: RecallRequest,
    seen: { lease: AdapterLease; outcome: RecallAnswer | TesseraError; ms: number },
  ): void {
    const { lease, outcome, ms } = seen;
    const isAnswer = !(outcome instanceof TesseraError);
    this.adapters?.observe(lease, {
      userId: request.userId,
      ms,
      outcome: isAnswer ? { items: outcome.items, isShort: outcome.short } : outcome,
      again: async (adapter) =>
        answered(
          recall,
          { ...request, requestId: '', priority: 'low' },
          ownContext(adapter, new AbortController().signal),
        ),
    });
  }
}

async function acted<Answer>(
  lease: AdapterLease,
  act: (adapter: ServedAdapter | undefined) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await act(lease.adapter);
  } finally {
    lease.release();
  }
}

async function answered(
  recall: Recall,
  request: RecallRequest,
  context: RecallContext,
): Promise<ProbeAnswer> {
  const { items, short } = await recall.run(request, context);
  return { itemIds: items.map(({ itemId }) => itemId), isShort: short };
}

const ANYBODY = { requestId: '', profile: {}, scene: {}, priority: 'low' } as const;

/** How versions are tried: recalls and appends that nobody waits for. */
export function adapterProbe(recall: Recall, behaviours: BehaviourStore): AdapterProbe {
  return {
    recall: (user, adapter, signal) =>
      answered(
        recall,
        {
          ...ANYBODY,
          ...user,
          skipUnknownItems: true,
          requiresHistory: true,
          resultCount: 0,
          widths: [],
          itemsPerSid: 0,
        },
        ownContext(adapter, signal),
      ),
    warm: async (userId, adapter, signal) => {
      const request = { ...ANYBODY, userId, skipUnknownItems: true };
      await recall.append(request, ownContext(adapter, signal));
    },
    sampleUserIds: (count) => behaviours.userIds(count),
  };
}
