import { expect, it } from 'vitest';
import type { Member } from './members.js';
import { PARTITION_COUNT } from './partition-owners.js';
import { partitionOf, RoutingTable } from './table.js';
import { xxh32 } from './xxh32.js';

const member = (name: string, weight = 1): Member => ({ name, weight, grpc: '', http: '' });
const named = (count: number) => Array.from({ length: count }, (_, n) => member(`node-${n}`));
const sorted = (members: Member[]) => members.sort((a, b) => (a.name < b.name ? -1 : 1));
const tableOf = (members: Member[]) => new RoutingTable(sorted(members), 1);

const many = named(400).map(({ name }, n) => member(name, 1 + ((n * 7919) % 1000)));

const ownerNames = (table: RoutingTable) =>
  Array.from(
    { length: PARTITION_COUNT },
    (_, partition) => table.members[table.nodeAt(partition, 0) as number]?.name,
  );

it('puts a user into the partition of the XXH32 of their UTF-8', () => {
  for (const user of ['u1', '', 'Zoë', '用户-7', 'x'.repeat(300)]) {
    const bytes = new TextEncoder().encode(user);
    expect(partitionOf(user)).toBe(xxh32(bytes) % PARTITION_COUNT);
    expect(partitionOf(bytes)).toBe(partitionOf(user));
  }
});

it.each([
  ['equal weights', named(7)],
  ['other weights', named(7).map(({ name }, n) => member(name, n + 1))],
  ['many nodes', named(400)],
  ['many nodes, 1 to 1000 times as many users', many],
])('keeps owner and successors of the whole order: %s', (_name, members) => {
  const table = tableOf(members);
  for (let partition = 0; partition < PARTITION_COUNT; partition += 97) {
    const order = table.order(partition);
    expect(new Set(order).size).toBe(members.length);
    const kept = [0, 1, 2].map((place) => table.nodeAt(partition, place));
    expect(kept, `partition ${partition}`).toEqual(order.slice(0, 3));
    expect(table.nodeAt(partition, 3)).toBeUndefined();
  }
});

it('is the same whoever makes it, in whatever order they learn of the nodes', () => {
  const table = tableOf(named(9));
  const other = tableOf(named(9).reverse());
  expect(ownerNames(other).join()).toBe(ownerNames(table).join());
  expect(other.digest).toBe(table.digest);
  expect(tableOf(named(8)).digest).not.toBe(table.digest);
  expect(tableOf([...named(8), member('node-8', 2)]).digest).not.toBe(table.digest);
});

it('moves to a node that joins its share of the partitions, and no other', () => {
  let before = ownerNames(tableOf(named(1)));
  for (let k = 1; k <= 16; k += 1) {
    const after = ownerNames(tableOf(named(k + 1)));
    const moved = after.filter((owner, partition) => owner !== before[partition]);
    expect(new Set(moved)).toEqual(new Set([`node-${k}`]));
    expect(moved.length / PARTITION_COUNT, `${k} nodes`).toBeLessThanOrEqual(1 / (k + 1) + 0.01);
    before = after;
  }
});

it('gives a node that leaves to its successors, and moves nobody else', () => {
  const table = tableOf(named(6));
  const without = tableOf(named(6).filter(({ name }) => name !== 'node-3'));
  const before = ownerNames(table);
  const after = ownerNames(without);
  const expected = before.map((owner, partition) =>
    owner === 'node-3' ? table.members[table.nodeAt(partition, 1) as number]?.name : owner,
  );
  expect(after.every((owner, partition) => owner === expected[partition])).toBe(true);
});

it.each([
  ['equal weights', named(16), 1.06],
  ['other weights', named(5).map(({ name }, n) => member(name, n + 1)), 1.06],
])('shares the partitions by weight: %s', (_name, members, most) => {
  const table = tableOf(members);
  const weights = table.members.map(({ weight }) => weight);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const counts = table.ownedCounts();
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(PARTITION_COUNT);
  for (const [node, count] of counts.entries()) {
    const expected = (PARTITION_COUNT * (weights[node] as number)) / whole;
    expect(count / expected).toBeLessThan(most);
    expect(count / expected).toBeGreaterThan(1 / most);
  }
});

it('has no owners without nodes, and no more than there are nodes', () => {
  expect(tableOf([]).nodeAt(5, 0)).toBeUndefined();
  expect(tableOf([]).ownedCounts()).toEqual([]);
  const one = tableOf(named(1));
  expect([one.nodeAt(5, 0), one.nodeAt(5, 1)]).toEqual([0, undefined]);
});

it('is the same whether it is made anew or from a table of other members', () => {
  const weighed = named(9).map(({ name }, n) => member(name, 1 + (n % 3)));
  const steps: Member[][] = [
    named(2),
    named(5),
    named(5).filter(({ name }) => name !== 'node-1'),
    [...named(5), member('a-first')],
    weighed,
    weighed.map((one) => (one.name === 'node-4' ? member(one.name, 7) : one)),
    weighed.slice(3),
    named(1),
    [],
    named(4),
  ];
  let before: RoutingTable | undefined;
  const placesOf = (table: RoutingTable) =>
    Array.from({ length: PARTITION_COUNT }, (_, partition) =>
      [0, 1, 2].map((place) => table.nodeAt(partition, place)).join(),
    ).join(';');
  for (const [at, members] of steps.entries()) {
    const table: RoutingTable = new RoutingTable(sorted([...members]), at, before);
    expect(placesOf(table) === placesOf(tableOf([...members])), `step ${at}`).toBe(true);
    before = table;
  }
});
