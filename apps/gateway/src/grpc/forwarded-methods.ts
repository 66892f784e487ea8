import { METHODS, type Routing } from '@tessera/methods';
import { fieldNumbers, messagesOf, repeatedNumber } from './message-fields.js';

/** `Routing` of the table of methods, by numbers of fields instead of names. */
export type WireRouting =
  | {
      readonly to: 'user';
      readonly userAt: readonly number[];
      readonly nodeAt: readonly number[] | undefined;
    }
  | { readonly to: 'any' | 'change' | 'split' }
  | {
      readonly to: 'owners';
      readonly partsAt: number;
      /** In a part. */
      readonly userAt: readonly number[];
      /** In the answer: a small number per part. */
      readonly outcomesAt: number;
    };

/** Undefined: a gateway does not serve the method. */
function wireRouting(path: string, routing: Routing): WireRouting | undefined {
  if (routing.to === 'node') return undefined;
  const { request, response } = messagesOf(path);
  switch (routing.to) {
    case 'user': {
      const { to, userAt, nodeAt } = routing;
      return {
        to,
        userAt: fieldNumbers(request, userAt),
        nodeAt: nodeAt === undefined ? undefined : fieldNumbers(request, nodeAt),
      };
    }
    case 'owners': {
      const { to, partsAt, userAt } = routing;
      const [number = 0, ...inPart] = fieldNumbers(request, `${partsAt}.${userAt}`);
      return { to, partsAt: number, userAt: inPart, outcomesAt: repeatedNumber(response) };
    }
    default:
      return { to: routing.to };
  }
}

/** Methods that a gateway serves, by path. */
export const FORWARDED: ReadonlyMap<string, WireRouting> = new Map(
  METHODS.flatMap(({ path, routing }) => {
    const wire = wireRouting(path, routing);
    return wire === undefined ? [] : [[path, wire] as const];
  }),
);
