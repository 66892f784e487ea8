import {
  type AdapterProbe,
  type ProbeAnswer,
  ranksApart,
  type ServedAdapter,
} from '@tessera/adapter';
import type { BehaviourStore } from '@tessera/behaviour';
import type { RecallContext, RecallRequest } from './domain/request/request-types.js';
import type { UseCases } from './domain/tasks/use-cases.js';

/** Microseconds that an answer which nobody waits for may take. */
const OWN_BUDGET_US = 60_000_000;
const ANYBODY = { requestId: '', profile: {}, scene: {}, priority: 'low' } as const;

/** Context of a request that the service makes for itself: nobody asks about it later. */
function ownContext(adapter: ServedAdapter | undefined, signal: AbortSignal): RecallContext {
  return { adapter, signal, budgetUs: OWN_BUDGET_US, isOwn: true };
}

async function probeAnswer(
  useCases: UseCases,
  request: RecallRequest,
  context: RecallContext,
): Promise<ProbeAnswer> {
  const { items, short } = await useCases.recall(request, context);
  return { itemIds: items.map(({ itemId }) => itemId), isShort: short };
}

/** The answer of another version to a request that was answered, for comparison. */
export function answerAgain(
  useCases: UseCases,
  request: RecallRequest,
  versions: Pick<RecallContext, 'adapter' | 'ranker'>,
): Promise<ProbeAnswer> {
  const again = { ...request, requestId: '', priority: 'low' } as const;
  const context = ownContext(versions.adapter, new AbortController().signal);
  return probeAnswer(useCases, again, { ...context, ...versions });
}

/** Ranking to try an adapter with heads; behind prompts of the base model if it changes none. */
function rankingOf(tried: ServedAdapter | undefined) {
  if (tried?.reading === undefined) return { versions: { adapter: tried }, rank: {} };
  const adapter = ranksApart(tried.engine) ? undefined : tried;
  return { versions: { adapter, ranker: tried }, rank: { rank: { adapter: tried.digest } } };
}

/** How versions of adapters are tried: recalls and appends that nobody waits for. */
export function adapterProbe(useCases: UseCases, behaviours: BehaviourStore): AdapterProbe {
  return {
    recall: (user, tried, signal) => {
      const { versions, rank } = rankingOf(tried);
      const request = {
        ...ANYBODY,
        ...user,
        skipUnknownItems: true,
        requiresHistory: true,
        resultCount: 0,
        widths: [],
        itemsPerSid: 0,
        ...rank,
      };
      return probeAnswer(useCases, request, { ...ownContext(undefined, signal), ...versions });
    },
    warm: async (userId, adapter, signal) => {
      const request = { ...ANYBODY, userId, skipUnknownItems: true };
      await useCases.append(request, ownContext(adapter, signal));
    },
    sampleUserIds: (count) => behaviours.userIds(count),
  };
}
