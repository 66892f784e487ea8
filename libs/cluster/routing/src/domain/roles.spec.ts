import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CALL_ROLES, type CallRole, isOfRole, type Member, type NodeRole } from './members.js';
import { FREE_LOAD_US, NodeLoads } from './node-loads.js';
import { PARTITION_COUNT } from './partition-owners.js';
import { Router } from './router.js';
import { RoutingTable } from './table.js';

const ROLES: readonly NodeRole[] = ['both', 'append', 'answer'];
const otherThan = (role: CallRole): CallRole => (role === 'answer' ? 'append' : 'answer');
/** A prime number of partitions apart: some hundreds of all. */
const STEP = 131;

const nodes = fc.uniqueArray(
  fc.record({
    name: fc.integer({ min: 0, max: 40 }).map((n) => `node-${n}`),
    weight: fc.integer({ min: 1, max: 3 }),
    role: fc.constantFrom(...ROLES),
  }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 8 },
);
type Node = Pick<Member, 'name' | 'weight'> & { readonly role: NodeRole };

const tableOf = (given: readonly Node[], before?: RoutingTable) => {
  const sorted = [...given].sort((a, b) => (a.name < b.name ? -1 : 1));
  const members = sorted.map((node) => Object.assign({ grpc: '', http: '' }, node));
  return new RoutingTable(members, 1, before);
};

/** Names of owner and successors of some partitions. */
function placesOf(table: RoutingTable, role: CallRole): string {
  const names: (string | undefined)[] = [];
  for (let partition = 0; partition < PARTITION_COUNT; partition += STEP) {
    for (const place of [0, 1, 2]) {
      names.push(table.members[table.nodeAt(partition, place, role) ?? -1]?.name);
    }
  }
  return names.join();
}

it('moves nobody of a role where nodes of the other one come, go or weigh more', () => {
  const role = fc.constantFrom(...CALL_ROLES);
  fc.assert(
    fc.property(nodes, nodes, role, (some, others, of) => {
      const stays = some.filter((node) => isOfRole(node, of));
      const names = new Set(stays.map(({ name }) => name));
      const foreign = others
        .filter(({ name }) => !names.has(name))
        .map(({ name, weight }) => ({ name, weight, role: otherThan(of) }));
      const before = tableOf(some);
      const after = tableOf([...stays, ...foreign], before);
      expect(placesOf(after, of)).toBe(placesOf(before, of));
      expect(placesOf(after, of)).toBe(placesOf(tableOf(stays), of));
      const anew = tableOf([...stays, ...foreign]);
      for (const each of CALL_ROLES) expect(placesOf(after, each)).toBe(placesOf(anew, each));
      expect(after.digest).toBe(anew.digest);
    }),
    { seed: 45, numRuns: 25 },
  );
});

it('chooses nodes of the role while one takes requests, and then any that does', () => {
  const step = fc.record({
    node: fc.nat(7),
    isUp: fc.boolean(),
    us: fc.integer({ min: 0, max: 4 * FREE_LOAD_US }),
    partition: fc.nat(PARTITION_COUNT - 1),
    role: fc.constantFrom(...CALL_ROLES),
  });
  fc.assert(
    fc.property(nodes, fc.array(step, { minLength: 50, maxLength: 150 }), (given, steps) => {
      const table = tableOf(given);
      const loads = new NodeLoads(table);
      for (const { node: at, isUp, us, partition, role } of steps) {
        const node = at % table.members.length;
        loads.setUp(node, isUp);
        loads.begin(node, us);
        const up = table.members.filter((_, one) => loads.takes(one));
        const own = up.filter((member) => isOfRole(member, role));
        const allowed = (own.length > 0 ? own : up).map(({ name }) => name);
        const choice = loads.choose(partition, new Set(), role);
        const anybody = loads.leastLoaded(new Set(), role);
        for (const chosen of [choice?.node, anybody]) {
          if (chosen === undefined) expect(up).toEqual([]);
          else expect(allowed).toContain(table.members[chosen]?.name);
        }
        const isMissing = own.length === 0 && up.length > 0;
        expect(choice?.reason === 'role-missing').toBe(isMissing);
        expect(loads.servedBy(role)).toBe(isMissing ? otherThan(role) : role);
      }
    }),
    { seed: 46, numRuns: 20 },
  );
});

it('measures a node by the mean of its role, whatever the other one has', () => {
  const step = fc.record({
    node: fc.nat(7),
    us: fc.integer({ min: 0, max: 4 * FREE_LOAD_US }),
    partition: fc.nat(PARTITION_COUNT - 1),
  });
  fc.assert(
    fc.property(nodes, fc.array(step, { minLength: 50, maxLength: 150 }), (given, steps) => {
      const table = tableOf(given);
      const loads = new NodeLoads(table);
      const alone = CALL_ROLES.map((role) => {
        const own = tableOf(given.filter((node) => isOfRole(node, role)));
        return { role, own, loads: new NodeLoads(own) };
      });
      for (const { own, loads: of } of alone) for (const n of own.members.keys()) of.setUp(n, true);
      for (const node of table.members.keys()) loads.setUp(node, true);
      for (const { node: at, us, partition } of steps) {
        const node = at % table.members.length;
        loads.begin(node, us);
        for (const { role, own, loads: of } of alone) {
          if (own.members.length === 0) continue;
          const index = own.indexOf(table.members[node]?.name ?? '');
          if (index >= 0) of.begin(index, us);
          const chosen = loads.choose(partition, new Set(), role);
          const expected = of.choose(partition, new Set(), role);
          expect(chosen?.reason).toBe(expected?.reason);
          const name = table.members[chosen?.node ?? -1]?.name;
          expect(name).toBe(own.members[expected?.node ?? -1]?.name);
        }
      }
    }),
    { seed: 47, numRuns: 20 },
  );
});

it('has another revision and digest where a role changes, and keeps what is outstanding', () => {
  const router = new Router(() => 0);
  const member = (name: string, role: NodeRole): Member => {
    return { name, grpc: '', http: '', weight: 1, role };
  };
  router.setMembers([member('a', 'both'), member('b', 'both')]);
  const { digest } = router.table;
  const unnamed = [{ name: 'a' }, { name: 'b' }].map(({ name }) => {
    return { name, grpc: '', http: '', weight: 1 };
  });
  expect(new RoutingTable(unnamed, 1).digest).toBe(digest);
  for (const name of ['a', 'b']) router.setUp(name, true);
  router.begin('b', 'k');
  router.setMembers([member('a', 'both'), member('b', 'append')]);
  expect(router.table.revision).toBe(2);
  expect(router.table.digest).not.toBe(digest);
  expect(router.outstandingUs('b')).toBe(10_000);
  expect(router.table.ownedCounts('answer')).toEqual([PARTITION_COUNT, 0]);
  for (let partition = 0; partition < 50; partition += 1) {
    expect(router.choose(partition)?.name).toBe('a');
  }
  // The wait of a role is that of its own nodes.
  router.state('b', 12);
  expect(router.leastWaitUs(1)).toBe(0);
  router.setUp('a', false);
  expect(router.servedBy('answer')).toBe('append');
  expect(router.choose(1)).toEqual({ name: 'b', reason: 'role-missing' });
  expect(router.choose(undefined)).toEqual({ name: 'b', reason: 'no-user' });
  expect(router.leastWaitUs(1)).toBeGreaterThan(0);
});
