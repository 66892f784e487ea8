import { TesseraError } from '@tessera/errors';
import { roleOf } from '@tessera/methods';
import { type CallRole, partitionOf } from '@tessera/routing';
import type { Cluster } from '../cluster.js';
import { FORWARDED } from './forwarded-methods.js';
import type { OneNodeCalls } from './one-node.js';
import type { UnaryHop } from './unary-hop.js';
import { fieldOf, fieldsAt, textAt, type WireField } from './wire-path.js';

interface Part {
  readonly partition: number;
  readonly fields: { readonly field: WireField; readonly place: number }[];
}

/** Behaviours by the node that owns their users: it alone follows them in its KV pool. */
function partsOf(
  cluster: Cluster,
  fields: readonly WireField[],
  userAt: readonly number[],
  role: CallRole,
): readonly Part[] {
  const parts = new Map<string, Part>();
  for (const [place, field] of fields.entries()) {
    const user = textAt(field.content, userAt);
    const partition = user === undefined ? 0 : partitionOf(user);
    const owner = cluster.choose(partition, role)?.link.member.name ?? '';
    const part = parts.get(owner) ?? { partition, fields: [] };
    part.fields.push({ field, place });
    parts.set(owner, part);
  }
  return [...parts.values()];
}

/** One byte per outcome: the numbers of the enumeration are below 128. */
function outcomesOf(answer: Buffer, outcomesAt: number, count: number): Uint8Array {
  const fields = fieldsAt(answer, outcomesAt) ?? [];
  const outcomes = Buffer.concat(fields.map(({ content }) => content));
  if (outcomes.length === count) return outcomes;
  const message = `behaviours: expected ${count} outcomes of a node, got ${outcomes.length}`;
  throw new TesseraError('INTERNAL', message);
}

/**
 * BehaviourService/Append: each owner gets the behaviours of its users, byte for byte.
 * The behaviours of one owner are taken whole or refused whole; after a refusal the caller repeats
 * all, since an event counts once.
 */
export async function appendByOwner(
  calls: OneNodeCalls,
  cluster: Cluster,
  path: string,
  call: UnaryHop,
): Promise<Buffer> {
  const routing = FORWARDED.get(path);
  if (routing?.to !== 'owners') return calls.unary(path, call);
  const { partsAt, userAt, outcomesAt } = routing;
  const fields = fieldsAt(call.request, partsAt);
  // No message, or an empty one: a node answers it in its own words.
  if (fields === null || fields.length === 0) return calls.unary(path, call);
  const parts = partsOf(cluster, fields, userAt, roleOf(path));
  const [only] = parts;
  if (only !== undefined && parts.length === 1) {
    return calls.ask(path, call.request, call, only.partition);
  }
  const merged = Buffer.alloc(fields.length);
  await Promise.all(
    parts.map(async (part) => {
      const bytes = part.fields.map(({ field }) => call.request.subarray(field.from, field.to));
      const answer = await calls.ask(path, Buffer.concat(bytes), call, part.partition);
      const outcomes = outcomesOf(answer, outcomesAt, part.fields.length);
      for (const [at, { place }] of part.fields.entries()) merged[place] = outcomes[at] as number;
    }),
  );
  return fieldOf(outcomesAt, merged);
}
