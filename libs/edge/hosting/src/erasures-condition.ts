import type { ConditionSource } from '@tessera/lifecycle';

/** Erasures that wait are a condition of whoever has promised them. */
export function erasuresCondition(pendingCount: () => number): ConditionSource {
  return {
    name: 'erasures',
    kind: 'store',
    isNeeded: false,
    read: () => {
      const count = pendingCount();
      if (count === 0) return { state: 'ok', reason: '' };
      const reason = `${count} erasures do not hold everywhere yet: see the log for what is away`;
      return { state: 'degraded', reason };
    },
  };
}
