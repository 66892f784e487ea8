import type { Fault } from './tidy-rules.mjs';

export const figureFaults: (
  texts: ReadonlyMap<string, string>,
) => (Fault & { readonly path: string })[];
