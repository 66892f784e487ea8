import type { Fault } from './tidy-rules.mjs';

export function dialect(path: string, text: string): Fault[];
export function dialectFaults(
  texts: ReadonlyMap<string, string>,
  ceilings: Readonly<Record<string, number>>,
): (Fault & { readonly path: string })[];
