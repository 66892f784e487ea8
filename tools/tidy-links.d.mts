import type { Exists, Fault } from './tidy-rules.mjs';

type Faults = (Fault & { readonly path: string })[];

export const linkFaults: (texts: ReadonlyMap<string, string>, exists: Exists) => Faults;
export const pagesApart: (texts: ReadonlyMap<string, string>) => Faults;
