import { protoSchema } from '@tessera/contracts';
import { partitionOf } from '@tessera/routing';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, it } from 'vitest';
import type { Cluster } from '../cluster.js';
import type { OneNodeCalls } from './one-node.js';
import { askByOwner } from './owner-calls.js';
import type { UnaryHop } from './unary-hop.js';

const root = protobuf.Root.fromJSON(protoSchema as protobuf.INamespace);
const Request = root.lookupType('tessera.behaviour.v1.AppendRequest');
const Response = root.lookupType('tessera.behaviour.v1.AppendResponse');
const PATH = '/tessera.behaviour.v1.BehaviourService/Append';
const NODES = 3;
const ownerOf = (partition: number) => `node-${partition % NODES}`;

interface Behaviour {
  readonly userId: string;
  readonly timeMs: number;
}
const decoded = (bytes: Uint8Array) =>
  (Request.toObject(Request.decode(bytes), { longs: Number }) as { behaviours?: Behaviour[] })
    .behaviours ?? [];

/** Each behaviour's outcome follows from its time alone, whoever stores it. */
const outcomeOf = ({ timeMs }: Behaviour) => 1 + (timeMs % 3);

/** Nodes that store what they are sent. */
function world(answer = (behaviours: Behaviour[]) => behaviours.map(outcomeOf)) {
  const stored = new Map<string, Behaviour[]>();
  const take = async (bytes: Uint8Array, node: string) => {
    const behaviours = decoded(bytes);
    stored.set(node, [...(stored.get(node) ?? []), ...behaviours]);
    return Buffer.from(Response.encode({ outcomes: answer(behaviours) } as never).finish());
  };
  const calls = {
    ask: (_path: string, bytes: Buffer, _call: unknown, partition: number) =>
      take(bytes, ownerOf(partition)),
    unary: (_path: string, call: { request: Buffer }) => take(call.request, 'any'),
  } as unknown as OneNodeCalls;
  const roles = new Set<string>();
  const cluster = {
    choose: (partition: number, role: string) => {
      roles.add(role);
      return { link: { member: { name: ownerOf(partition) } } };
    },
  } as unknown as Cluster;
  const append = (request: Buffer) => {
    const call = { request } as UnaryHop;
    return askByOwner(calls, cluster, PATH, call);
  };
  return { stored, append, roles };
}

const encoded = (behaviours: readonly Behaviour[]) =>
  Buffer.from(Request.encode(Request.fromObject({ behaviours })).finish());

it('sends each owner its users, in their order, and answers in the order asked', async () => {
  const behaviour = fc.record({ userId: fc.string({ minLength: 1 }), timeMs: fc.nat(1_000_000) });
  await fc.assert(
    fc.asyncProperty(fc.array(behaviour, { minLength: 1, maxLength: 200 }), async (behaviours) => {
      const { stored, append, roles } = world();
      const answer = Response.toObject(Response.decode(await append(encoded(behaviours))));
      expect(answer.outcomes).toEqual(behaviours.map(outcomeOf));
      for (const [node, taken] of stored) {
        const mine = behaviours.filter(({ userId }) => ownerOf(partitionOf(userId)) === node);
        expect(taken.map(({ userId, timeMs }) => [userId, timeMs])).toEqual(
          mine.map(({ userId, timeMs }) => [userId, timeMs]),
        );
      }
      expect([...stored.values()].flat()).toHaveLength(behaviours.length);
      expect([...roles]).toEqual(['append']);
    }),
    { seed: 9, numRuns: 100 },
  );
});

it('leaves to a node what is no message, or is empty', async () => {
  const { stored, append } = world();
  await append(Buffer.alloc(0));
  expect([...stored.keys()]).toEqual(['any']);
  await expect(append(Buffer.of(10, 200))).rejects.toThrow();
  expect([...stored.keys()]).toEqual(['any']);
});

it('refuses an answer that leaves outcomes out', async () => {
  const { append } = world(() => [1]);
  const users = Array.from({ length: 9 }, (_, n) => ({ userId: `u${n}`, timeMs: n }));
  await expect(append(encoded(users))).rejects.toMatchObject({ code: 'INTERNAL' });
});
