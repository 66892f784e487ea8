import type { Fault, Rule } from './tidy-rules.mjs';

export const DECISIONS_MAX: number;
export const decisionStatus: Rule;
export const decisionFaults: (
  texts: ReadonlyMap<string, string>,
) => (Fault & { readonly path: string })[];
