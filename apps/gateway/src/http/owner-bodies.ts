import { errorBody, TesseraError } from '@tessera/errors';
import { parseJsonBody } from '@tessera/hosting';
import { methodAt } from '@tessera/methods';
import type { FastifyReply } from 'fastify';
import { FORWARDED, type OwnersRouting } from '../grpc/forwarded-methods.js';
import type { HttpAnswer } from '../node-link.js';
import { askParts, type OwnerPart, ownerParts } from '../owner-parts.js';
import type { Fields } from '../passed-fields.js';
import { askNode, type HttpForwarding, leftMsIn, partitionAt } from './http-hop.js';
import { errorOf } from './node-answer.js';

type Json = Readonly<Record<string, unknown>>;

interface OwnersHop {
  readonly path: string;
  readonly body: Buffer;
  readonly headers: Fields;
  readonly reply: FastifyReply;
}

/** An entry of the answer that says why there is no other. */
function failedAs({ failure }: OwnersRouting) {
  if (failure === undefined) return undefined;
  return (error: TesseraError): unknown => ({
    [failure.name]: { field: '', ...errorBody(error).error },
  });
}

/**
 * A body with entries of several users, as askByOwner does over gRPC. Undefined: it is not to be
 * cut, and one node answers it in its own words.
 */
export async function askOwners(
  parts: Pick<HttpForwarding, 'asking' | 'timeoutMs'>,
  { path, body, headers, reply }: OwnersHop,
): Promise<HttpAnswer | undefined> {
  const method = methodAt(path);
  const routing = method && FORWARDED.get(method.path);
  if (method === undefined || routing?.to !== 'owners') return undefined;
  const asked = Object(await parseJsonBody(body)) as Json;
  const entries = asked[routing.parts.name];
  if (!Array.isArray(entries) || entries.length > routing.partsMax) return undefined;
  const partitions = entries.map((entry) => partitionAt(entry, routing.userNamed));
  const { role } = method;
  const owned = ownerParts(parts.asking.cluster, partitions, role);
  const facts = { role, node: undefined, leftMs: leftMsIn(asked) };
  const [only] = owned;
  if (only === undefined) return undefined;
  const whole = { method: 'POST', path, headers, body };
  if (owned.length === 1) {
    return askNode(parts, whole, { ...facts, partition: only.partition }, reply);
  }
  const answered = await askParts(owned, {
    ask: async ({ partition, places }: OwnerPart) => {
      const own = { [routing.parts.name]: places.map((place) => entries[place]) };
      const sent = { ...whole, body: Buffer.from(JSON.stringify({ ...asked, ...own })) };
      const answer = await askNode(parts, sent, { ...facts, partition }, reply);
      return entriesOf(answer.body, routing, places.length);
    },
    errorOf,
    failed: failedAs(routing),
  });
  const merged = Buffer.from(JSON.stringify({ [routing.outcomes.name]: answered }));
  return { status: 200, headers: {}, body: merged };
}

function entriesOf(body: Buffer, { outcomes }: OwnersRouting, count: number): readonly unknown[] {
  const entries = (JSON.parse(body.toString()) as Json)[outcomes.name];
  if (Array.isArray(entries) && entries.length === count) return entries;
  const message = `${outcomes.name}: expected ${count} of a node, got another number`;
  throw new TesseraError('INTERNAL', message);
}
