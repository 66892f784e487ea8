/** `npm run cluster`: real processes, ended and stopped while they are asked. */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type * as grpc from '@grpc/grpc-js';
import { ServiceClient, TesseraClient } from '@tessera/client';
import { ERROR_TRAILERS, GRPC_STATUS, isConnectionLost } from '@tessera/errors';
import { freePort, missingFor, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BROWSER_PATH, launchBrowser, Visit } from './browser.js';
import { DEADLINE_MS, type NodeState, RunningCluster } from './running-cluster.js';

const NODES = 3;
const USERS = Array.from({ length: 24 }, (_, n) => String(n + 1));
const CATALOGUE = 'tessera.catalogue.v1.CatalogueService';

let cluster: RunningCluster;

/** Of a process: its clock is an hour ahead. */
const HOUR_AHEAD = `--import=data:text/javascript,${encodeURIComponent(
  'const now=Date.now;Date.now=()=>now()+3600000',
)}`;

beforeAll(async () => {
  cluster = await RunningCluster.start(NODES, { relevance: 'test/fixtures/relevance' });
});

afterAll(() => cluster?.end());

/** Of lengths that differ, with common beginnings. */
const TEXTS = Array.from({ length: 48 }, (_, n) => `red shoes ${'for rain '.repeat(n % 13)}${n}`);

/** Of overload; nodes that do not get to answer for a second are away for as long. */
const REFUSALS = [
  'ENGINE_OVERLOADED',
  'DEADLINE_EXCEEDED',
  'NODE_UNAVAILABLE',
  'STORE_UNAVAILABLE',
];

interface Outcome {
  readonly answer?: { readonly items: readonly { itemId: string; score: number }[] };
  readonly failure?: { readonly code: string };
}

interface Reranked {
  readonly results?: readonly { readonly index: number; readonly relevance_score: number }[];
  readonly failures?: readonly { readonly index: number; readonly code: string }[];
  readonly error?: { readonly code: string };
}

async function rerank(): Promise<Reranked> {
  const body = { query: 'shoes', documents: TEXTS, deadline_ms: DEADLINE_MS };
  const headers = { 'content-type': 'application/json' };
  const asked = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await (await fetch(`${cluster.httpUrl}/v1/rerank`, asked)).json()) as Reranked;
}

describe('three nodes on this machine', () => {
  it('start with one command, which prints the table', async () => {
    expect(cluster.stdout).toMatch(
      /Table [0-9a-f]{8}, revision \d+\n {2}node-1 {2}gRPC .*partitions {2}up\n/,
    );
    expect((await cluster.state()).map((node) => node.state)).toEqual(['up', 'up', 'up']);
    for (const userId of USERS) {
      expect((await cluster.recalled(userId)).node, userId).toBe(await cluster.ownerOf(userId));
    }
  });

  it.skipIf(missingFor(['haproxy']).length > 0)('keep their users behind HAProxy', async () => {
    const file = join(cluster.folder, 'haproxy.cfg');
    const { httpPort, grpcPort } = cluster.options;
    const port = await freePort();
    const text = readFileSync('deploy/cluster/haproxy.cfg', 'utf8')
      .replace('127.0.0.1:50051', `127.0.0.1:${port}`)
      .replaceAll(/127\.0\.0\.1:5006(\d)/g, (_, n) => `127.0.0.1:${grpcPort + 9 + Number(n)}`)
      .replaceAll(/ port 808(\d)/g, (_, n) => ` port ${httpPort + Number(n)}`);
    // Nodes share their cores with tests: no slow answer to a check takes one away.
    writeFileSync(file, text.replace('fall 2', 'fall 100'));
    const haproxy = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: 'inherit' });
    const ask = async (userId: string) => {
      const headers = () => ({ 'x-tessera-user': userId });
      const through = new TesseraClient(`127.0.0.1:${port}`, { headers });
      const { versions } = await through.recall({ userId }, DEADLINE_MS);
      through.close();
      return versions?.node;
    };
    try {
      await until('HAProxy serves', () => ask('1').then(Boolean, () => false));
      const nodes = new Set<string | undefined>();
      for (const userId of USERS) {
        const node = await ask(userId);
        nodes.add(node);
        expect(await ask(userId), userId).toBe(node);
      }
      expect(nodes.size).toBe(NODES);
    } finally {
      haproxy.kill('SIGTERM');
      await once(haproxy, 'exit');
    }
  });

  it.skipIf(BROWSER_PATH === undefined)('are seen in the console of any of them', async () => {
    // Not always at its owner: a burst leaves one that is loaded.
    const recorded = new Map<string, string>();
    for (const userId of USERS.slice(0, 8)) {
      const asked = { userId, inspect: true };
      const { versions } = await cluster.client.recall(asked, DEADLINE_MS);
      recorded.set(userId, versions?.node ?? '');
    }
    const browser = await launchBrowser();
    const { http = '' } = (await cluster.node('node-1')) ?? {};
    const visit = await Visit.open(browser, `http://${http}`);
    const { page } = visit;
    await visit.goTo('/cluster');
    for (const name of ['node-1', 'node-2', 'node-3']) {
      const row = page.getByRole('row').filter({ hasText: name });
      await row.getByText('up', { exact: true }).waitFor();
    }
    await visit.picture('cluster-light');
    await visit.expectAccessible();
    const [userId = '', name = ''] = [...recorded].find(([, node]) => node !== 'node-1') ?? [];
    await visit.goTo(`/recalls?userId=${userId}`);
    // One row, or more where the user was asked about by the tests before.
    await page.getByRole('cell', { name, exact: true }).first().waitFor();
    await page.getByRole('row').filter({ hasText: name }).getByRole('link').first().click();
    await page.getByText(`recorded by ${name}`).waitFor();
    await page.getByLabel('Item').and(page.locator('input')).fill('1');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page
      .getByText(/SID|in the answer/)
      .first()
      .waitFor();
    await visit.picture('recall-of-another-node-light');
    await visit.goTo(`/users/${userId}`);
    await page.getByRole('heading', { name: `Keys and values kept by ${name}` }).waitFor();
    expect(visit.faults).toEqual([]);
    await browser.close();
  });

  it('lose no answer, score or text and change none where one is killed under load', async () => {
    const expected = await cluster.expectedOf(USERS);
    const owners = await cluster.owners(USERS);
    let isOver = false;
    const failed: unknown[] = [];
    const wrong: string[] = [];
    const moved = new Set<string>();
    const ask = async (userId: string) => {
      while (!isOver) {
        try {
          const { items, node } = await cluster.recalled(userId);
          if (items !== expected.get(userId)) wrong.push(userId);
          if (node !== owners.get(userId)) moved.add(userId);
        } catch (thrown) {
          failed.push(thrown);
        }
      }
    };
    const { results: scores = [] } = await rerank();
    expect(scores.map(({ index }) => index).sort((a, b) => a - b)).toEqual([...TEXTS.keys()]);
    const scored = new Map(scores.map((of) => [of.index, of.relevance_score]));
    const reranked: Reranked[] = [];
    const rerankOn = async () => {
      while (!isOver) reranked.push(await rerank());
    };
    const asking = USERS.map(ask);
    const mine = USERS.filter((userId) => owners.get(userId) === 'node-2');
    expect(mine.length).toBeGreaterThan(2);
    asking.push(rerankOn());
    await until('texts are scored meanwhile', () => reranked.length > 0);
    process.kill(cluster.pidOf('node-2'), 'SIGKILL');
    await until('its users are answered', () => mine.every((userId) => moved.has(userId)));
    isOver = true;
    await Promise.all(asking);
    expect(failed).toEqual([]);
    expect(wrong).toEqual([]);
    // Each text once, with the score that it has from any node, or with why it has none.
    for (const { results = [], failures = [], error } of reranked) {
      for (const { index, relevance_score: score } of results) {
        expect(score).toBe(scored.get(index));
      }
      for (const { code } of [...failures, ...(error ? [error] : [])]) {
        expect(code).toMatch(/^(NODE_UNAVAILABLE|ENGINE_OVERLOADED|DEADLINE_EXCEEDED)$/);
      }
      const answered = [...results, ...failures].map(({ index }) => index).sort((a, b) => a - b);
      expect(answered).toEqual(error === undefined ? [...TEXTS.keys()] : []);
    }
    expect((await cluster.node('node-2'))?.state).toBe('down');
    const lines = cluster.stdout.split('\n');
    expect(lines.filter((line) => line.includes('node-2 takes no requests'))).toHaveLength(1);
  });

  it('erase a user without a node that is away, which does so before it serves again', async () => {
    const chainsOf = async (name: string) => {
      const { grpc = '' } = (await cluster.node(name)) ?? {};
      const node = new ServiceClient('tessera.kv.v1.KvPoolService', grpc);
      const { chains } = await node.call('Inspect', { userId: '2' });
      node.close();
      return chains.length;
    };
    await cluster.client.recall({ userId: '2' }, DEADLINE_MS);
    await cluster.client.erase('2', DEADLINE_MS);
    await cluster.restart('node-2');
    for (const name of ['node-1', 'node-2', 'node-3']) expect(await chainsOf(name), name).toBe(0);
    const held = await cluster.client
      .history('2', 10, DEADLINE_MS)
      .catch(() => ({ behaviours: [] }));
    expect(held.behaviours).toEqual([]);
  });

  it('have one catalogue after changes through the gateway, under recalls', async () => {
    const gateway = new ServiceClient(CATALOGUE, cluster.gatewayAddress);
    const all: string[] = [];
    for await (const { items } of gateway.stream('ListItems', {})) {
      all.push(...items.map(({ itemId }) => itemId));
    }
    let isOver = false;
    const asking = USERS.slice(2, 6).map(async (userId) => {
      while (!isOver) await cluster.recalled(userId);
    });
    try {
      for (const [n, itemId] of all.slice(0, 24).entries()) {
        const change = n % 2 === 0 ? { pauseItemId: itemId } : { removeItemId: itemId };
        await gateway.call('Apply', { changes: [change] });
      }
    } finally {
      isOver = true;
      await Promise.all(asking);
    }
    const digests = new Set<string>();
    for (const { grpc } of await cluster.state()) {
      const node = new ServiceClient(CATALOGUE, grpc);
      const hash = createHash('sha256');
      for await (const { items, sequence } of node.stream('ListItems', {})) {
        hash.update(JSON.stringify([sequence, items]));
      }
      digests.add(hash.digest('hex'));
      node.close();
    }
    gateway.close();
    expect(digests.size).toBe(1);
  });

  it('serve what is changed at any of them, once it is acknowledged', async () => {
    const changing = (await cluster.state()).map(({ grpc }) => new ServiceClient(CATALOGUE, grpc));
    const [first] = changing;
    const before = (await first?.call('GetState', {}))?.sequence ?? 0;
    const changes = [{ pauseItemId: '600' }, { resumeItemId: '600' }, { pauseItemId: '600' }];
    for (const [n, node] of changing.entries()) {
      await node.call('Apply', { changes: [changes[n] as object] });
      const states = await Promise.all(changing.map((one) => one.call('GetState', {})));
      expect(states.map(({ sequence }) => sequence)).toEqual(changing.map(() => before + n + 1));
    }
    const words = (await cluster.state()).map(({ log }) => `${log.identity} ${log.digest}`);
    expect(words[0]).toMatch(/^\S+ [0-9a-f]+$/);
    await until('all say so', async () => {
      const said = (await cluster.state()).map(({ log }) => JSON.stringify(log));
      return new Set(said).size === 1;
    });
    for (const node of changing) node.close();
  });

  it('answer from a successor what a stopped node has begun', async () => {
    const pid = cluster.pidOf('node-3');
    const mine: string[] = [];
    for (const userId of USERS) if ((await cluster.ownerOf(userId)) === 'node-3') mine.push(userId);
    process.kill(pid, 'SIGSTOP');
    const answers = await Promise.all(mine.map((userId) => cluster.recalled(userId)));
    for (const { node } of answers) expect(node).not.toBe('node-3');
    expect((await cluster.node('node-3'))?.state).toBe('down');
    process.kill(pid, 'SIGCONT');
    await until('it is back', async () => (await cluster.node('node-3'))?.state === 'up');
    expect((await cluster.recalled(mine[0] ?? '')).node).toBe('node-3');
  });

  it('are the same before a second gateway, but for whom it cannot reach', async () => {
    // Takes connections and says nothing: to this gateway alone the node's gRPC edge is away.
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const nodes = ['node-1', 'node-2', 'node-3'].map((name) => {
      const { grpcPort, httpPort } = cluster.planOf(name);
      return `${name}=127.0.0.1:${name === 'node-3' ? port : grpcPort}/127.0.0.1:${httpPort}`;
    });
    const {
      running,
      httpUrl: second,
      grpcAddress,
    } = await cluster.secondGateway({
      TESSERA_CLUSTER_NODES: nodes.join(),
      TESSERA_CLUSTER_ETCD: '',
      TESSERA_KAFKA_BROKERS: '',
      NODE_OPTIONS: HOUR_AHEAD,
    });
    const tableAt = async (url: string) => {
      const { digest, nodes: shown } = (await (await fetch(`${url}/v1/cluster`)).json()) as {
        readonly digest: string;
        readonly nodes: readonly NodeState[];
      };
      return { digest, states: shown.map((node) => node.state) };
    };
    await until('it gives up on node-3', async () => (await tableAt(second)).states[2] === 'down');
    const { digest } = await tableAt(cluster.httpUrl);
    expect(await tableAt(second)).toEqual({ digest, states: ['up', 'up', 'down'] });
    expect((await tableAt(cluster.httpUrl)).states).toEqual(['up', 'up', 'up']);
    const through = new TesseraClient(grpcAddress);
    for (const userId of USERS) {
      const owner = await cluster.ownerOf(userId);
      const answer = await through.recall({ userId, resultCount: 5 }, DEADLINE_MS);
      const ids = JSON.stringify(answer.items.map(({ itemId, score }) => [itemId, score]));
      expect(ids, userId).toBe((await cluster.recalled(userId)).items);
      if (owner === 'node-3') expect(answer.versions?.node).not.toBe(owner);
      else expect(answer.versions?.node).toBe(owner);
    }
    through.close();
    running.child.kill('SIGTERM');
    await running.ended;
    silent.close();
  });

  it('answer right and in time, or refuse with a code, at three times what they can', async () => {
    const expected = await cluster.expectedOf(USERS);
    const plain = new ServiceClient('tessera.recall.v1.RecallService', cluster.gatewayAddress);
    const ask = async (n: number, deadlineMs: number) => {
      const userId = USERS[n % USERS.length] as string;
      const deadline = Date.now() + deadlineMs;
      const { items } = await plain.call('Recall', { userId, resultCount: 5 }, { deadline });
      const got = JSON.stringify(items.map(({ itemId, score }) => [itemId, score]));
      return got === expected.get(userId) ? 'right' : 'wrong';
    };
    const all = (count: number, deadlineMs: number) =>
      Promise.all(
        Array.from({ length: count }, (_, n) =>
          ask(n, deadlineMs).catch(({ code, details, metadata }: grpc.ServiceError) => {
            const named = metadata.get(ERROR_TRAILERS.code)[0]?.toString();
            // The caller's own clock may end a call first.
            const isLate = code === GRPC_STATUS.DEADLINE_EXCEEDED;
            // Node ends a connection on which very many calls were cancelled in a short time.
            const isEnded = code === GRPC_STATUS.INTERNAL && isConnectionLost(code, details);
            return named ?? (isLate || isEnded ? 'late' : `status ${code} ${details}`);
          }),
        ),
      );
    const [rounds, atOnce] = [8, 12];
    const begun = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      expect(new Set(await all(atOnce, DEADLINE_MS))).toEqual(new Set(['right']));
    }
    // Three times the calibrated number is asked for in that time. A machine may now be faster
    // or slower: less time then, or more.
    let deadlineMs = performance.now() - begun;
    const ends = new Set<string>();
    const isRefusal = (end: string) => end !== 'right' && end !== 'late';
    while (!ends.has('right') || ![...ends].some(isRefusal)) {
      const wave = new Set(await all(3 * rounds * atOnce, deadlineMs));
      for (const end of wave) ends.add(end);
      deadlineMs *= wave.has('right') ? 0.7 : 1.5;
    }
    plain.close();
    const known = ['right', 'late', ...REFUSALS];
    expect([...ends].filter((end) => !known.includes(end))).toEqual([]);
    for (const name of ['node-1', 'node-2', 'node-3']) await cluster.untilIs(name, 'up');
    expect((await cluster.recalled('4')).items).toBe(expected.get('4'));
  });

  it('answer each recall of batches beyond what they can, or refuse it with a code', async () => {
    const expected = await cluster.expectedOf(USERS);
    const userOf = (n: number) => USERS[n % USERS.length] as string;
    const recalls = Array.from({ length: 256 }, (_, n) => ({ userId: userOf(n), resultCount: 5 }));
    const endOf = ({ answer, failure }: Outcome, n: number) => {
      const got = JSON.stringify(answer?.items.map(({ itemId, score }) => [itemId, score]));
      return failure?.code ?? (got === expected.get(userOf(n)) ? 'right' : `wrong: ${got}`);
    };
    const batch = async (deadlineMs: number) => {
      const headers = { 'content-type': 'application/json' };
      const asked = { method: 'POST', headers, body: JSON.stringify({ recalls, deadlineMs }) };
      const reply = await fetch(`${cluster.httpUrl}/v1/recall/batch`, asked);
      const { outcomes, error } = (await reply.json()) as {
        readonly outcomes?: readonly Outcome[];
        readonly error?: { readonly code: string };
      };
      if (outcomes === undefined) return [error?.code ?? ''];
      expect(outcomes).toHaveLength(recalls.length);
      return outcomes.map(endOf);
    };
    const ends = new Set<string>();
    // A machine may be fast or slow: until some recalls are answered and others refused.
    for (let deadlineMs = 1000; !ends.has('right') || ends.size < 2; ) {
      const wave = new Set((await Promise.all([1, 2, 3, 4].map(() => batch(deadlineMs)))).flat());
      for (const end of wave) ends.add(end);
      deadlineMs *= wave.has('right') ? 0.7 : 1.5;
    }
    expect([...ends].filter((end) => end !== 'right' && !REFUSALS.includes(end))).toEqual([]);
    for (const name of ['node-1', 'node-2', 'node-3']) await cluster.untilIs(name, 'up');
  });
});
