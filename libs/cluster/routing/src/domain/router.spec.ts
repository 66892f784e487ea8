import { expect, it } from 'vitest';
import { loadClassOf } from './load-class.js';
import type { Member } from './members.js';
import { Router } from './router.js';

const member = (name: string): Member => ({ name, grpc: '', http: '', weight: 1 });
const NAMES = ['a', 'b', 'c', 'd'];

function routerOf(names = NAMES) {
  let now = 1000;
  const router = new Router(() => now);
  router.setMembers(names.map(member));
  for (const name of names) router.setUp(name, true);
  const pass = (ms: number) => {
    now += ms;
  };
  return { router, pass };
}

const orderOf = (router: Router, partition: number) =>
  router.table.order(partition).map((node) => router.table.members[node]?.name ?? '');

it('asks the owner, and whom is not without where it has failed', () => {
  const { router } = routerOf();
  const [owner = '', second = '', third] = orderOf(router, 5);
  expect(router.choose(5)).toEqual({ name: owner, reason: 'owner' });
  expect(router.choose(5, [owner])?.name).toBe(second);
  expect(router.choose(5, [owner, second])?.name).toBe(third);
  expect(router.choose(5, NAMES)).toBeUndefined();
  expect(router.choose(undefined)?.reason).toBe('no-user');
});

it('agrees with another router on the load that both have put on a node', () => {
  const [one, other] = [routerOf(), routerOf()];
  const [owner = '', second] = orderOf(one.router, 5);
  // The other has asked the owner for much, of which this one knows by an answer alone.
  for (let n = 0; n < 200; n += 1) other.router.begin(owner, 'k');
  expect(other.router.choose(5)?.name).toBe(second);
  expect(one.router.choose(5)?.name).toBe(owner);
  one.router.state(owner, loadClassOf(other.router.outstandingUs(owner)));
  expect(one.router.choose(5)?.name).toBe(second);
  expect(one.router.choose(5)?.reason).toBe('owner-loaded');
  // Its backlog is done when that time has passed.
  one.pass(2000);
  expect(one.router.choose(5)?.name).toBe(owner);
  expect(one.router.outstandingUs(owner)).toBe(0);
});

it('does not count its own requests twice where the node states them too', () => {
  const { router } = routerOf();
  const [owner = ''] = orderOf(router, 5);
  const ends = Array.from({ length: 8 }, () => router.begin(owner, 'k'));
  const own = router.outstandingUs(owner);
  router.state(owner, loadClassOf(own));
  expect(router.outstandingUs(owner)).toBe(own);
  for (const end of ends) end(false);
  expect(router.outstandingUs(owner)).toBe(0);
});

it('knows the least wait of the three nodes of a partition as they have stated it', () => {
  const { router, pass } = routerOf();
  const order = orderOf(router, 5);
  for (const name of order.slice(0, 2)) router.state(name, loadClassOf(900_000));
  expect(router.leastWaitUs(5)).toBe(0);
  router.state(order[2] ?? '', loadClassOf(300_000));
  expect(router.leastWaitUs(5)).toBe(256_000);
  router.setUp(order[2] ?? '', false);
  expect(router.leastWaitUs(5)).toBe(512_000);
  pass(100);
  expect(router.leastWaitUs(5)).toBe(412_000);
});

it('keeps what is outstanding and who is up when the table changes', () => {
  const { router } = routerOf();
  const [owner = ''] = orderOf(router, 5);
  const end = router.begin(owner, 'k');
  router.setUp('d', false);
  router.setMembers([...NAMES, 'e'].map(member));
  expect(router.table.revision).toBe(2);
  expect(router.outstandingUs(owner)).toBe(10_000);
  expect(router.outstandingUs('e')).toBe(0);
  // A node that is new takes nothing before it was seen.
  for (let partition = 0; partition < 200; partition += 1) {
    expect(['a', 'b', 'c']).toContain(router.choose(partition)?.name);
  }
  end(false);
  expect(router.outstandingUs(owner)).toBe(0);
  router.setMembers([member('e')]);
  expect(router.choose(5)).toBeUndefined();
  expect(router.outstandingUs(owner)).toBe(0);
});

it('learns what requests cost from the time between the answers of a busy node', () => {
  const { router, pass } = routerOf();
  const [owner = ''] = orderOf(router, 5);
  // Eight that begin at once at a node that computes one after the other, 30 ms each.
  for (let round = 0; round < 20; round += 1) {
    const ends = Array.from({ length: 8 }, () => router.begin(owner, 'k'));
    for (const end of ends) {
      pass(30);
      end(true);
    }
    pass(500);
  }
  const end = router.begin(owner, 'k');
  expect(router.outstandingUs(owner)).toBeCloseTo(30_000, 0);
  end(false);
});
