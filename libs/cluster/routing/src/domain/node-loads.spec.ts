import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Member } from './members.js';
import { FREE_LOAD_US, LOAD_BOUND, NodeLoads, STAY_US } from './node-loads.js';
import { PARTITION_COUNT } from './partition-owners.js';
import { RoutingTable } from './table.js';

const member = (name: string, weight = 1): Member => ({ name, weight, grpc: '', http: '' });
const membersOf = (weights: readonly number[]) => weights.map((w, n) => member(`n${n}`, w));

function loadsOf(weights: readonly number[]): { table: RoutingTable; loads: NodeLoads } {
  const table = new RoutingTable(membersOf(weights), 1);
  const loads = new NodeLoads(table);
  for (const node of weights.keys()) loads.setUp(node, true);
  return { table, loads };
}

it('chooses the owner while the work at it is little, whatever the others have', () => {
  const { table, loads } = loadsOf([1, 1, 1]);
  const owner = table.nodeAt(7, 0) as number;
  loads.begin(owner, FREE_LOAD_US);
  expect(loads.choose(7)).toEqual({ node: owner, reason: 'owner' });
  loads.begin(owner, 1);
  expect(loads.choose(7)).toEqual({ node: table.nodeAt(7, 1), reason: 'owner-loaded' });
  loads.end(owner, 1);
  expect(loads.choose(7)).toMatchObject({ node: owner });
});

it('passes over nodes that are away, and further than the kept ones where it must', () => {
  const { table, loads } = loadsOf([1, 1, 1, 1, 1]);
  const order = table.order(9);
  for (const [place, node] of order.entries()) {
    const reason = place === 0 ? 'owner' : 'owner-away';
    expect(loads.choose(9)).toEqual({ node, reason });
    expect(loads.choose(9, new Set([node]))).toEqual(
      place === 4 ? undefined : { node: order[place + 1], reason: 'owner-away' },
    );
    loads.setUp(node, false);
  }
  expect(loads.choose(9)).toBeUndefined();
  expect(loads.leastLoaded()).toBeUndefined();
});

/** The same by a model that keeps nothing but the requests themselves. */
function modelChoice(
  table: RoutingTable,
  up: ReadonlySet<number>,
  work: ReadonlyMap<number, number>,
  partition: number,
): number | undefined {
  const us = (node: number) => work.get(node) ?? 0;
  const weight = (node: number) => table.members[node]?.weight as number;
  const sum = (of: (node: number) => number) => [...up].reduce((all, node) => all + of(node), 0);
  const bound = (node: number) =>
    Math.max(FREE_LOAD_US, (LOAD_BOUND * sum(us) * weight(node)) / sum(weight));
  const order = table.order(partition);
  const near = order.slice(0, 3).filter((node) => up.has(node));
  const free = near.find((node) => us(node) <= bound(node));
  if (free !== undefined) return free;
  const [least] = near.sort((a, b) => us(a) / bound(a) - us(b) / bound(b));
  return least ?? order.find((node) => up.has(node));
}

it('agrees with a model that adds everything up anew', () => {
  const step = fc.record({
    kind: fc.constantFrom('ask', 'ask', 'ask', 'end', 'down', 'up'),
    partition: fc.nat(PARTITION_COUNT - 1),
    us: fc.integer({ min: 1, max: 4 * FREE_LOAD_US }),
    node: fc.nat(4),
  });
  const weights = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 5, maxLength: 5 });
  // A table takes milliseconds to make: some, with many steps each.
  fc.assert(
    fc.property(weights, fc.array(step, { minLength: 200, maxLength: 400 }), (given, steps) => {
      const { table, loads } = loadsOf(given);
      const up = new Set(given.keys());
      const running: { node: number; us: number }[] = [];
      for (const { kind, partition, us, node } of steps) {
        if (kind === 'down') up.delete(node);
        if (kind === 'up') up.add(node);
        if (kind === 'down' || kind === 'up') loads.setUp(node, kind === 'up');
        if (kind === 'end') {
          const [ended] = running.splice(partition % Math.max(1, running.length), 1);
          if (ended !== undefined) loads.end(ended.node, ended.us);
        }
        if (kind !== 'ask') continue;
        const work = new Map<number, number>();
        for (const one of running) work.set(one.node, (work.get(one.node) ?? 0) + one.us);
        const chosen = loads.choose(partition)?.node;
        expect(chosen).toBe(modelChoice(table, up, work, partition));
        if (chosen === undefined) continue;
        loads.begin(chosen, us);
        running.push({ node: chosen, us });
      }
    }),
    { seed: 21, numRuns: 12 },
  );
});

it('takes the node with the least work for its weight where there is no user', () => {
  const { loads } = loadsOf([1, 2, 1]);
  loads.begin(0, 10);
  loads.begin(1, 15);
  loads.begin(2, 8);
  expect(loads.leastLoaded()).toBe(1);
  expect(loads.leastLoaded(new Set([1]))).toBe(2);
});

it('goes to the node that is done first where all nodes up share one store', () => {
  const { table, loads } = loadsOf([1, 1, 1, 1, 1]);
  const [owner, second, ...others] = table.order(7) as [number, number, ...number[]];
  for (const node of [0, 1, 2, 3]) loads.setStore(node, 'store');
  loads.begin(owner, FREE_LOAD_US);
  expect(loads.choose(7)).toEqual({ node: owner, reason: 'owner' });
  loads.setStore(4, 'store');
  for (const node of [second, ...others.slice(1)]) loads.begin(node, FREE_LOAD_US);
  expect(loads.choose(7)).toEqual({ node: others[0], reason: 'owner-loaded' });
  loads.begin(others[0] as number, FREE_LOAD_US - STAY_US);
  expect(loads.choose(7)).toEqual({ node: owner, reason: 'owner' });
  expect(loads.choose(7, new Set([owner]))).toEqual({ node: second, reason: 'owner-away' });
  loads.setUp(owner, false);
  expect(loads.choose(7)).toEqual({ node: second, reason: 'owner-away' });
  // One node of another store: what moves to it is computed.
  loads.setUp(owner, true);
  loads.begin(owner, 1);
  expect(loads.choose(7)?.node).toBe(others[0]);
  loads.setStore(others[1] as number, 'another');
  loads.end(owner, 1);
  expect(loads.choose(7)).toEqual({ node: owner, reason: 'owner' });
});
