import type { ConditionSource } from '@tessera/lifecycle';
import type { BatchServer } from './batch-server.js';

/** The broker as a dependency: calls go on without it, topics wait for it. */
export function brokerCondition(server: Pick<BatchServer, 'reach'>): ConditionSource {
  return { name: 'kafka', kind: 'dependency', isNeeded: false, read: () => server.reach() };
}
