import type { ItemPolicy, RecallRequest } from './recall-types.js';

export const NO_POLICY: ItemPolicy = { orderBy: '', diversity: [] };

/** As the engine reads it; it knows the members and their limits. */
export function itemPolicyText({ itemPolicy }: RecallRequest): string {
  if (itemPolicy === undefined) return '{}';
  const { orderBy, diversity } = itemPolicy;
  const caps = diversity.map(({ attribute, maxItems }) => ({ attribute, maxItems }));
  return JSON.stringify({ orderBy, diversity: caps });
}
