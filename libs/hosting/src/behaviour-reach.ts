import type { ConditionReading, Conditions } from '@tessera/lifecycle';

const DEPENDENCIES: Readonly<Record<string, string>> = { redis: 'redis', remote: 'feature' };

/**
 * The store of behaviours as a dependency, where it is on another machine: requests that carry
 * their history go on without it.
 */
export function addBehaviourReach(
  conditions: Conditions,
  { store }: { readonly store: string },
  read: () => ConditionReading,
): void {
  const name = DEPENDENCIES[store];
  if (name !== undefined) conditions.add({ name, kind: 'dependency', isNeeded: false, read });
}
