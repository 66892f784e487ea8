import { errorBody, TesseraError } from '@tessera/errors';
import { roleOf } from '@tessera/methods';
import { partitionOf } from '@tessera/routing';
import type { Cluster } from '../cluster.js';
import { askParts, ownerParts } from '../owner-parts.js';
import { FORWARDED, type OwnersRouting } from './forwarded-methods.js';
import { encoded } from './message-fields.js';
import type { OneNodeCalls } from './one-node.js';
import type { UnaryHop } from './unary-hop.js';
import { fieldOf, fieldsAt, textAt, type WireField, without } from './wire-path.js';

/** Entries of a packed list, one byte each: the numbers of its enumeration are below 128. */
function entriesOf(answer: Buffer, { outcomes }: OwnersRouting, count: number): Uint8Array[] {
  const contents = (fieldsAt(answer, outcomes.number) ?? []).map(({ content }) => content);
  const entries = outcomes.isPacked
    ? Array.from(Buffer.concat(contents), (number) => Uint8Array.of(number))
    : contents;
  if (entries.length === count) return entries;
  const message = `${outcomes.name}: expected ${count} of a node, got ${entries.length}`;
  throw new TesseraError('INTERNAL', message);
}

function merged(entries: readonly Uint8Array[], { outcomes }: OwnersRouting): Buffer {
  const { number, isPacked } = outcomes;
  if (isPacked) return fieldOf(number, Buffer.concat(entries));
  return Buffer.concat(entries.map((entry) => fieldOf(number, entry)));
}

/** An entry that says why there is no other. */
function failedAs({ failure }: OwnersRouting) {
  if (failure === undefined) return undefined;
  const { number, message } = failure;
  return (error: TesseraError) => fieldOf(number, encoded(message, errorBody(error).error));
}

/**
 * A call with entries of several users: each owner gets those of its users, byte for byte, and one
 * answer has all outcomes in the order of the call. Of behaviours those of one owner are taken
 * whole or refused whole; after a refusal the caller repeats all, since an event counts once.
 */
export async function askByOwner(
  calls: OneNodeCalls,
  cluster: Cluster,
  path: string,
  call: UnaryHop,
): Promise<Buffer> {
  const routing = FORWARDED.get(path);
  if (routing?.to !== 'owners') return calls.unary(path, call);
  const { request } = call;
  const fields = fieldsAt(request, routing.parts.number) ?? [];
  // No message, or a number of entries that no node takes: one says so in its own words.
  if (fields.length === 0 || fields.length > routing.partsMax) return calls.unary(path, call);
  const partitions = fields.map(({ content }) => {
    const user = textAt(content, routing.userAt);
    return user && partitionOf(user);
  });
  const parts = ownerParts(cluster, partitions, roleOf(path));
  const [only] = parts;
  if (only !== undefined && parts.length === 1) {
    return calls.ask(path, request, call, only.partition);
  }
  const rest = without(request, fields);
  const entries = await askParts(parts, {
    ask: async ({ partition, places }) => {
      const bytes = places.map((place) => {
        const { from, to } = fields[place] as WireField;
        return request.subarray(from, to);
      });
      const answer = await calls.ask(path, Buffer.concat([rest, ...bytes]), call, partition);
      return entriesOf(answer, routing, places.length);
    },
    failed: failedAs(routing),
  });
  return merged(entries, routing);
}
