import { useMemo } from 'react';
import type { TreeNames } from '../../../src/api-types.js';
import { useAsked } from '../ui/use-asked.js';

const NO_NAMES: Readonly<Record<string, string>> = {};

/** Names of nodes by their path; empty while they are not known. */
export function useNodeNames(): Readonly<Record<string, string>> {
  const { data } = useAsked<TreeNames>('catalogue/names');
  return useMemo(() => {
    if (data === undefined) return NO_NAMES;
    return Object.fromEntries(Object.entries(data.names).map(([path, { value }]) => [path, value]));
  }, [data]);
}
