import type { AdapterProbe, ProbeAnswer, ServedAdapter } from '@tessera/adapter';
import type { BehaviourStore } from '@tessera/behaviour';
import type { RecallContext, RecallRequest } from './domain/recall-types.js';
import type { UseCases } from './domain/use-cases.js';

/** Microseconds that an answer which nobody waits for may take. */
const OWN_BUDGET_US = 60_000_000;
const ANYBODY = { requestId: '', profile: {}, scene: {}, priority: 'low' } as const;

/** Of a request that the service makes for itself: nobody asks about it later. */
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
  adapter: ServedAdapter | undefined,
): Promise<ProbeAnswer> {
  const again = { ...request, requestId: '', priority: 'low' } as const;
  return probeAnswer(useCases, again, ownContext(adapter, new AbortController().signal));
}

/** How versions of adapters are tried: recalls and appends that nobody waits for. */
export function adapterProbe(useCases: UseCases, behaviours: BehaviourStore): AdapterProbe {
  return {
    recall: (user, adapter, signal) =>
      probeAnswer(
        useCases,
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
      await useCases.append(request, ownContext(adapter, signal));
    },
    sampleUserIds: (count) => behaviours.userIds(count),
  };
}
