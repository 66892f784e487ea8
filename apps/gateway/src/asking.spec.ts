import { PLAIN } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import { type Failure, failureOfCode, type Member } from '@tessera/routing';
import { afterEach, describe, expect, it } from 'vitest';
import { type Asked, Asking, ForwardCounts } from './asking.js';
import { Cluster } from './cluster.js';
import { NodeAway } from './node-failure.js';
import type { NodeLink } from './node-link.js';

const lines: string[] = [];
const log = {
  info: (_fields: object, line: string) => void lines.push(line),
  warn: (_fields: object, line: string) => void lines.push(line),
};
const member = (name: string, weight = 1): Member => ({
  name,
  grpc: `${name}:1`,
  http: `${name}:2`,
  weight,
});
const versions = (node: string, model = 'm') => ({ node, model, promptTemplate: 't' });

let cluster: Cluster;
afterEach(() => cluster.close());

function clusterOf(...names: string[]): Cluster {
  lines.length = 0;
  cluster = new Cluster(PLAIN, log as never);
  cluster.setMembers(names.map((name) => member(name)));
  for (const link of cluster.links()) {
    cluster.saw(link, { state: 'up', versions: versions(link.member.name) });
  }
  return cluster;
}

const asked = (more: Partial<Asked> = {}): Asked =>
  Object.assign(
    {
      partition: 3,
      role: 'answer' as const,
      kind: 'k',
      edge: 'grpc',
      deadlineMs: Number.POSITIVE_INFINITY,
      isOver: () => false,
    },
    more,
  );
const FAILING = {
  away: new NodeAway('away'),
  busy: new TesseraError('ENGINE_OVERLOADED', 'busy'),
  final: new TesseraError('REQUEST_INVALID', 'final'),
};
const failing = (failure: Failure) => FAILING[failure];

/** The names in the order in which they are asked for a partition. */
const orderOf = (partition: number) =>
  cluster.table.order(partition).map((node) => cluster.table.members[node]?.name ?? '');

async function names(act: (link: NodeLink, deadlineMs: number) => Promise<string>, of = asked()) {
  const tried: string[] = [];
  const counts = new ForwardCounts();
  const answer = await new Asking(cluster, counts)
    .ask(of, (link, deadlineMs) => {
      tried.push(link.member.name);
      return act(link, deadlineMs);
    })
    .catch((thrown: unknown) => thrown);
  return { tried, answer, counts };
}

it('asks successors where nodes are away or refuse before they begin', async () => {
  clusterOf('a', 'b', 'c', 'd');
  const order = orderOf(3);
  expect((await names(async () => 'yes')).tried).toEqual(order.slice(0, 1));
  let left = 1;
  const once = await names(async () => {
    left -= 1;
    if (left >= 0) throw failing('busy');
    return 'yes';
  });
  expect(once).toMatchObject({ tried: order.slice(0, 2), answer: 'yes' });
  expect([once.counts.retries, [...once.counts.forwarded.keys()]]).toEqual([1, ['grpc owner']]);
  // A refusal takes nobody's users away; not to be reached does, until the node is seen again.
  expect(cluster.links().every(({ state }) => state === 'up')).toBe(true);
  const away = await names(async ({ member: { name } }) => {
    if (name === order[0]) throw failing('away');
    return name;
  });
  expect(away).toMatchObject({ tried: order.slice(0, 2), answer: order[1] });
  expect(cluster.link(order[0] ?? '')?.state).toBe('down');
  const later = await names(async () => 'yes');
  expect(later.tried).toEqual([order[1]]);
  expect([...later.counts.forwarded.keys()]).toEqual(['grpc owner-away']);
});

it('gives up at once where another node would not help, or nobody waits', async () => {
  clusterOf('a', 'b', 'c');
  const act = (failure: Failure) => async () => {
    throw failing(failure);
  };
  expect(await names(act('final'))).toMatchObject({ answer: failing('final') });
  const over = await names(act('busy'), asked({ isOver: () => true }));
  expect(over).toMatchObject({ tried: [orderOf(3)[0]], answer: failing('busy') });
  const busy = await names(act('busy'));
  expect(busy).toMatchObject({ tried: orderOf(3), answer: failing('busy') });
  const { tried, answer } = await names(act('away'));
  expect(tried).toEqual(orderOf(3));
  expect(answer).toBeInstanceOf(TesseraError);
  expect(answer).toMatchObject({ code: 'NODE_UNAVAILABLE' });
  expect((answer as Error).message).toBe(
    'nodes: expected one that takes requests, got a down, b down, c down',
  );
});

it('asks successors of busy nodes from a budget, of nodes that are away always', async () => {
  clusterOf('a', 'b', 'c');
  const asking = new Asking(cluster, new ForwardCounts());
  const attempts = async (failure: Failure, of = asked()) => {
    let tried = 0;
    await asking
      .ask(of, async () => {
        tried += 1;
        throw failing(failure);
      })
      .catch(() => undefined);
    return tried;
  };
  let tries = 0;
  for (let call = 0; call < 100; call += 1) tries += await attempts('busy');
  // Tokens of one budget: ten, of which the upper half is spent.
  expect(tries).toBeLessThanOrEqual(106);
  // A change that one node cannot append is the next one's.
  expect(await attempts('busy', asked({ isChange: true }))).toBe(3);
  expect(await attempts('away')).toBe(3);
});

it('says once that a node is away, and once that it is back', () => {
  clusterOf('a', 'b');
  lines.length = 0;
  const [a] = cluster.links() as [NodeLink];
  cluster.lost(a, 'refused');
  cluster.saw(a, { state: 'down', reason: 'refused again' });
  cluster.saw(a, { state: 'up', versions: versions('a') });
  cluster.saw(a, { state: 'up', versions: versions('a') });
  expect(lines).toEqual([
    'node a takes no requests: its users go to their successors',
    'node a is up',
  ]);
});

it('leaves out a node of another name or model, and takes it back when it fits', () => {
  clusterOf('a', 'b', 'c');
  const [, b, c] = cluster.links() as [NodeLink, NodeLink, NodeLink];
  cluster.saw(b, { state: 'up', versions: versions('b', 'other') });
  expect(b).toMatchObject({ state: 'different', reason: 'model: expected m, got other' });
  cluster.saw(c, { state: 'up', versions: versions('b') });
  expect(c).toMatchObject({ state: 'different', reason: 'node.name: expected c, got b' });
  expect(cluster.choose(undefined, 'answer')?.link.member.name).toBe('a');
  cluster.saw(b, { state: 'up', versions: versions('b') });
  cluster.saw(c, { state: 'up', versions: versions('c') });
  expect(cluster.links().map(({ state }) => state)).toEqual(['up', 'up', 'up']);
  expect(cluster.versions).toEqual({ model: 'm', promptTemplate: 't' });
});

it('keeps what is outstanding at nodes that stay, and waits for those that leave', async () => {
  clusterOf('a', 'b', 'c');
  const [a, b] = cluster.links() as [NodeLink, NodeLink];
  const endA = cluster.begin(a, 'k');
  const endB = cluster.begin(b, 'k');
  const outstanding = cluster.outstandingUs('a');
  expect(outstanding).toBeGreaterThan(0);
  cluster.setMembers([member('a'), member('c')]);
  expect(cluster.table.revision).toBe(2);
  expect(cluster.outstandingUs('a')).toBe(outstanding);
  expect(cluster.link('a')).toBe(a);
  expect(cluster.watched()).toContain(b);
  endA(true);
  endB(true);
  expect(cluster.outstandingUs('a')).toBe(0);
  expect(cluster.watched()).not.toContain(b);
});

it('answers every request while the members change with each of them', async () => {
  clusterOf('a', 'b', 'c', 'd');
  const all = ['a', 'b', 'c', 'd'].map((name) => member(name));
  const counts = new ForwardCounts();
  const asking = new Asking(cluster, counts);
  let end: (() => void)[] = [];
  const answers: Promise<string>[] = [];
  for (let n = 0; n < 200; n += 1) {
    cluster.setMembers(n % 2 === 0 ? all.slice(n % 3, (n % 3) + 2) : all);
    for (const link of cluster.links()) {
      cluster.saw(link, { state: 'up', versions: versions(link.member.name) });
    }
    const act = ({ member: { name } }: NodeLink) =>
      new Promise<string>((resolve) => end.push(() => resolve(name)));
    answers.push(asking.ask(asked({ partition: n * 97 }), act));
    if (n % 5 !== 0) continue;
    for (const one of end) one();
    end = [];
  }
  for (const one of end) one();
  expect((await Promise.all(answers)).every((name) => name !== '')).toBe(true);
  expect(cluster.watched()).toHaveLength(all.length);
  for (const { name } of all) expect(cluster.outstandingUs(name)).toBeCloseTo(0);
  expect(cluster.table.revision).toBe(201);
});

it.each([
  ['ENGINE_OVERLOADED', 'busy'],
  ['ENGINE_UNAVAILABLE', 'busy'],
  ['REQUEST_INVALID', 'final'],
  ['DEADLINE_EXCEEDED', 'final'],
  ['', 'away'],
  ['STORE_UNAVAILABLE', 'final', 'busy'],
  ['LOG_DIFFERENT', 'final', 'busy'],
  ['CATALOGUE_INVALID', 'final', 'final'],
])('takes the code %j of a node for %s, of a change %s', (code, failure, ofChange = failure) => {
  expect(failureOfCode(code)).toBe(failure);
  if (code !== 'DEADLINE_EXCEEDED') expect(failureOfCode(code, true)).toBe(ofChange);
});

it('asks the one node that can answer, and refuses where it takes no requests', async () => {
  clusterOf('a', 'b', 'c');
  const [owner = '', second = ''] = orderOf(3);
  expect((await names(async () => 'yes', asked({ node: second }))).tried).toEqual([second]);
  const away = await names(
    async () => {
      throw failing('away');
    },
    asked({ node: second }),
  );
  expect(away.tried).toEqual([second]);
  for (const [node, got] of [
    [second, `${second} down`],
    ['z', 'z, which is no member'],
  ]) {
    const refused = await names(async () => 'yes', asked({ node }));
    expect(refused).toMatchObject({ tried: [], answer: { code: 'NODE_UNAVAILABLE' } });
    const message = `versions.node: expected a node that takes requests, got ${got}`;
    expect((refused.answer as Error).message).toBe(message);
  }
  expect((await names(async () => 'yes')).tried).toEqual([owner]);
});

it('refuses at once what neither the owner nor its successors can answer in time', async () => {
  clusterOf('a', 'b', 'c', 'd');
  const order = orderOf(3);
  const state = (at: number, loadClass: number) => cluster.stated(order[at] ?? '', loadClass);
  state(0, 10);
  state(1, 11);
  const soon = asked({ deadlineMs: Date.now() + 100 });
  expect((await names(async () => 'yes', soon)).answer).toBe('yes');
  state(2, 9);
  const refused = await names(async () => 'yes', soon);
  expect(refused.tried).toEqual([]);
  expect(refused.counts.refusedAhead).toBe(1);
  expect(refused.answer).toMatchObject({ code: 'ENGINE_OVERLOADED' });
  const { message, retryAfterMs } = refused.answer as TesseraError;
  expect(message).toMatch(
    /^deadline: expected \d+(\.\d+)? ms, which the owner and its successors need, got \d+ ms$/,
  );
  // Class 9 begins with 256 ms, of which some have passed since.
  expect(retryAfterMs).toBeGreaterThan(0);
  expect(retryAfterMs).toBeLessThanOrEqual(256);
  const others = [
    asked({ deadlineMs: Date.now() + 10_000 }),
    asked(),
    asked({ deadlineMs: Date.now(), partition: undefined }),
  ];
  for (const other of others) {
    expect((await names(async () => 'yes', other)).answer).toBe('yes');
  }
});

describe('a change', () => {
  const change = (more: Partial<Asked> = {}) =>
    asked(Object.assign({ partition: undefined, isChange: true }, more));

  it.each(['STORE_UNAVAILABLE', 'LOG_DIFFERENT', 'DEADLINE_EXCEEDED'] as const)(
    'goes on to a node that can append where one answers %s',
    async (code) => {
      clusterOf('a', 'b', 'c');
      let isFirst = true;
      const act = async ({ member: { name } }: NodeLink) => {
        if (!isFirst) return name;
        isFirst = false;
        throw new TesseraError(code, 'the log is away');
      };
      const { tried, answer } = await names(act, change());
      expect(tried).toHaveLength(2);
      expect(answer).toBe(tried[1]);
      expect(cluster.links().every(({ state }) => state === 'up')).toBe(true);
    },
  );

  it('has what the last node said where none can append, and its own faults at once', async () => {
    clusterOf('a', 'b', 'c');
    const away = new TesseraError('STORE_UNAVAILABLE', 'the log is away');
    const none = await names(() => Promise.reject(away), change());
    expect([none.tried.length, none.answer]).toEqual([3, away]);
    const fault = new TesseraError('REQUEST_INVALID', 'changes: expected some');
    const own = await names(() => Promise.reject(fault), change());
    expect([own.tried.length, own.answer]).toEqual([1, fault]);
  });

  it('leaves a share of its time to each node that may be asked, the last one all', async () => {
    clusterOf('a', 'b', 'c');
    const untilMs = Date.now() + 30_000;
    const deadlines: number[] = [];
    await names(
      (_link, deadlineMs) => {
        deadlines.push(deadlineMs);
        return Promise.reject(new TesseraError('DEADLINE_EXCEEDED', 'nothing heard'));
      },
      change({ deadlineMs: untilMs }),
    );
    const [first = 0, second = 0, last] = deadlines;
    expect(first).toBeLessThan(second);
    expect(second).toBeLessThan(untilMs);
    expect(last).toBe(untilMs);
  });
});
