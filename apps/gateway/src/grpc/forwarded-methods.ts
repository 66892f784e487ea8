import { METHODS, type Routing } from '@tessera/methods';
import {
  fieldNumber,
  fieldNumbers,
  hasField,
  messageAt,
  messagesOf,
  repeatedField,
} from './message-fields.js';
import { numberAt, textAt } from './wire-path.js';

export interface OwnersRouting {
  readonly to: 'owners';
  readonly parts: { readonly number: number; readonly name: string };
  /** Parts of a call that nodes take. */
  readonly partsMax: number;
  /** In a part, by numbers and by names. */
  readonly userAt: readonly number[];
  readonly userNamed: string;
  /** In the answer: an entry per part. */
  readonly outcomes: {
    readonly number: number;
    readonly name: string;
    /** True of a packed list of small numbers, false of messages. */
    readonly isPacked: boolean;
  };
  /** In an outcome: why there is no other; `message`: its full name. Undefined: there is none. */
  readonly failure:
    | { readonly number: number; readonly name: string; readonly message: string }
    | undefined;
}

/** `Routing` of the table of methods, by numbers of fields instead of names. */
export type WireRouting =
  | {
      readonly to: 'user';
      readonly userAt: readonly number[];
      readonly nodeAt: readonly number[] | undefined;
    }
  | { readonly to: 'any' | 'change' | 'split' }
  | OwnersRouting;

function ownersRouting(
  request: string,
  response: string,
  { to, partsAt, partsMax, userAt, failureAt }: Extract<Routing, { to: 'owners' }>,
): OwnersRouting {
  const [number = 0, ...inPart] = fieldNumbers(request, `${partsAt}.${userAt}`);
  const outcomes = repeatedField(response);
  const failure = failureAt && {
    number: fieldNumber(response, `${outcomes.name}.${failureAt}`),
    name: failureAt,
    message: messageAt(response, `${outcomes.name}.${failureAt}`),
  };
  const parts = { number, name: partsAt };
  return {
    to,
    parts,
    partsMax,
    userAt: inPart,
    userNamed: userAt,
    outcomes,
    failure: failure || undefined,
  };
}

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
    case 'owners':
      return ownersRouting(request, response, routing);
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

/** Fields in which requests name the time that they have. */
const DEADLINES = ['deadlineMs', 'request.deadlineMs'];

/** Names and numbers of the field with a call's milliseconds, by path of the method. */
const DEADLINE_AT = new Map(
  [...FORWARDED.keys()].flatMap((path) => {
    const { request } = messagesOf(path);
    const named = DEADLINES.find((names) => hasField(request, names));
    return named === undefined ? [] : [[path, { named, at: fieldNumbers(request, named) }]];
  }),
);

/** Undefined: requests of the method name no time. */
export const deadlineNamed = (path: string): string | undefined => DEADLINE_AT.get(path)?.named;

/** Milliseconds that a request gives; Infinity: it names none. */
export function leftMsOf(path: string, request: Buffer): number {
  const at = DEADLINE_AT.get(path)?.at;
  const within = at && (at.length === 1 ? request : textAt(request, at.slice(0, -1)));
  return (within && numberAt(within, at.at(-1) as number)) || Number.POSITIVE_INFINITY;
}
