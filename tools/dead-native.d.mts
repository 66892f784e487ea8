import type { Fault } from './tidy-rules.mjs';

export function deadNative(
  files: ReadonlyMap<string, string>,
): (Fault & { readonly path: string })[];
