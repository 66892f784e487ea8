import type { ConditionReading, Conditions } from '@tessera/lifecycle';

const DEPENDENCIES: Readonly<Record<string, string>> = { redis: 'redis', remote: 'feature' };

/**
 * The store of behaviours as a dependency, where it is on another machine. Requests that carry
 * their history go on without it; `isNeeded`: all others would be refused, so the process is not
 * ready while it is away.
 */
export function addBehaviourReach(
  conditions: Conditions,
  { store, isNeeded }: { readonly store: string; readonly isNeeded: boolean },
  read: () => ConditionReading,
): void {
  const name = DEPENDENCIES[store];
  if (name !== undefined) conditions.add({ name, kind: 'dependency', isNeeded, read });
}
