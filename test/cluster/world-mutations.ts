/**
 * Safeguards of the product, each of which a mutation takes away: a world that is any good finds
 * that out within a few hundred seeds.
 */

import type { LogEnd } from '@tessera/log';
import {
  NodeErasures,
  Publication,
  Reached,
  Snapshots,
  Submissions,
  WatchedLog,
} from '@tessera/node';
import { MemoryPending } from '@tessera/testing';
import type { Kind } from '../soak/soak.js';
import { runWorld } from './model-world.js';

type Methods = Record<string, (this: never, ...words: never[]) => unknown>;

interface Mutation {
  readonly name: string;
  /** Takes the safeguard away until the function that it returns is called. */
  readonly apply: () => () => void;
}

/** Puts another method in the place of one of a class, until it is put back. */
function replaced(type: { readonly prototype: object }, name: string, other: Methods[string]) {
  const methods = type.prototype as Methods;
  const own = methods[name];
  if (own === undefined) throw new Error(`expected a method ${name}, got none`);
  methods[name] = other;
  return () => {
    methods[name] = own;
  };
}

const MUTATIONS: readonly Mutation[] = [
  {
    name: 'the end of the log is not compared with what nodes have had',
    apply: () => replaced(WatchedLog, 'check', () => undefined),
  },
  {
    name: 'an append is sent whether its lease and its caller are there or not',
    apply: () => replaced(Submissions, 'check', () => undefined),
  },
  {
    name: 'nobody waits for other nodes',
    apply: () => replaced(Submissions, 'everywhere', async () => undefined),
  },
  {
    name: 'the list of erasures is lost with the process',
    apply: () => {
      const { list } = MemoryPending.prototype;
      const lost = function lost(this: MemoryPending) {
        for (const one of list.call(this)) void this.remove(one);
        return [];
      };
      return replaced(MemoryPending, 'list', lost as Methods[string]);
    },
  },
  {
    name: 'erasures are said to be done at once',
    apply: () => {
      const done = (offset: number) => ({ erased: offset, open: [] });
      return replaced(NodeErasures, 'done', done as Methods[string]);
    },
  },
  {
    name: 'no user of a snapshot is erased',
    apply: () => replaced(Snapshots, 'erasedUpTo', async () => ({ erased: [], atMs: 0 })),
  },
  {
    name: 'the first node by name makes snapshots, and no other one',
    apply: () => {
      const isOwn = function isOwn(this: { readonly parts: { readonly node: string } }) {
        return this.parts.node === 'a';
      };
      return replaced(Snapshots, 'isOwn', isOwn as unknown as Methods[string]);
    },
  },
  {
    name: 'nothing is trimmed',
    apply: () => replaced(Snapshots, 'clean', async () => undefined),
  },
  {
    name: 'how far nodes are is not noted',
    apply: () => replaced(Reached, 'all', async () => []),
  },
  {
    name: 'a node that cannot go on still holds its lease',
    apply: () => replaced(Publication, 'stand', () => undefined),
  },
  {
    name: 'an append lands behind any end',
    apply: () => {
      const append = WatchedLog.prototype.append;
      const late = function late(this: WatchedLog, bytes: Uint8Array, after: never) {
        return append.call(this, bytes, after, ((_: LogEnd) => undefined) as never);
      };
      return replaced(WatchedLog, 'append', late as unknown as Methods[string]);
    },
  },
];

/** Seeds that are tried for each mutation. */
const TRIED = 300;

export const mutations: Kind = {
  usage: `
  One safeguard of the product is taken away, and worlds of ${TRIED} seeds are tried. Faults:
  none of them finds that out.`,
  rounds: MUTATIONS.length,
  start: async (soak) => ({
    async round() {
      const { name, apply } = MUTATIONS[(soak.round - 1) % MUTATIONS.length] as Mutation;
      const undo = apply();
      const found = await foundFrom(soak.seed).finally(undo);
      if (found === undefined) soak.fault(`not found: ${name}`);
      else soak.say(`${found}: ${name}`);
    },
    async close() {},
  }),
};

/** The first seed that finds a fault, and the fault. */
async function foundFrom(first: number): Promise<string | undefined> {
  for (let seed = first; seed < first + TRIED; seed += 1) {
    const [fault] = (await runWorld(seed)).faults;
    if (fault !== undefined) return `seed ${seed}, ${fault}`;
  }
  return undefined;
}
