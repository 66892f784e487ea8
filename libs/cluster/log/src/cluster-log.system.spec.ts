/** Contract of every log, over each implementation and its real server. */

import { randomUUID } from 'node:crypto';
import { Etcd, NodeKey } from '@tessera/etcd';
import {
  MemoryLog,
  MemoryLogState,
  missingFor,
  type RealServer,
  startEtcdServer,
  until,
} from '@tessera/testing';
import { withinMs } from '@tessera/turns';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterLog, EtcdLog, type LogEntry } from './index.js';

interface LogServer {
  /** @param node whose process has the handle */
  open(name: string, node?: string): Promise<ClusterLog>;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Kind {
  readonly name: string;
  readonly servers: readonly RealServer[];
  /** Within so many milliseconds a call says that the server is away. */
  readonly awayMs: number;
  start(): Promise<LogServer>;
}

async function memoryServer(): Promise<LogServer> {
  const states = new Map<string, MemoryLogState>();
  let isAway = false;
  const setAway = async (away: boolean) => {
    isAway = away;
    for (const state of states.values()) {
      state.away = away;
      state.wake();
    }
  };
  return {
    open: async (name) => {
      const state = states.get(name) ?? new MemoryLogState();
      states.set(name, state);
      state.away = isAway;
      return new MemoryLog(state);
    },
    kill: () => setAway(true),
    start: () => setAway(false),
    stop: async () => undefined,
  };
}

async function etcdServer(): Promise<LogServer> {
  const server = await startEtcdServer();
  return {
    open: async (name, node = randomUUID()) => {
      const etcd = new Etcd(server.address);
      return new EtcdLog(new NodeKey(etcd, name, node));
    },
    kill: server.kill,
    start: server.start,
    stop: server.stop,
  };
}

const KINDS: readonly Kind[] = [
  { name: 'memory', servers: [], awayMs: 1000, start: memoryServer },
  { name: 'etcd', servers: ['etcd'], awayMs: 5000, start: etcdServer },
];

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = ({ bytes }: LogEntry) => new TextDecoder().decode(bytes);
const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    (thrown) => thrown.code as string,
  );

/** Reads until so many entries were given. */
async function taken(log: ClusterLog, from: number, count: number): Promise<LogEntry[]> {
  const enough = new AbortController();
  const all: LogEntry[] = [];
  for await (const entries of log.read(from, enough.signal)) {
    all.push(...entries);
    if (all.length >= count) break;
  }
  enough.abort();
  return all;
}

/** Reads until it is said that nothing more is there. */
async function takenToEnd(log: ClusterLog, from: number): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for await (const entries of log.read(from, new AbortController().signal)) {
    if (entries.length === 0) break;
    all.push(...entries);
  }
  return all;
}

/** Behind the beginning of a log that has this identity. */
const after = (identity: string) => ({ offset: 0, chain: identity });
const identities = new WeakMap<ClusterLog, string>();
const append = (log: ClusterLog, bytes: Uint8Array) =>
  log.append(bytes, after(identities.get(log) ?? ''));

async function appendAll(log: ClusterLog, texts: readonly string[]): Promise<number[]> {
  const offsets: number[] = [];
  for (const text of texts) offsets.push(await append(log, bytesOf(text)));
  return offsets;
}

const position = (node: string, process: string, offset = 1) => ({
  node,
  process,
  offset,
  chain: 'c',
  erased: offset,
  digest: `${process} at ${offset}`,
  log: 'one',
  standing: 'serving' as const,
  open: [],
  canSnapshot: true,
});

for (const { name, servers, ...kind } of KINDS) {
  const missing = missingFor(servers);
  if (missing.length > 0) console.log(`${name} is not tested here: ${missing.join()} is missing`);

  describe.skipIf(missing.length > 0)(`a log in ${name}`, () => {
    let server: LogServer;
    const opened: ClusterLog[] = [];
    beforeAll(async () => {
      server = await kind.start();
    });
    afterEach(async () => {
      for (const log of opened.splice(0)) await log.close();
    });
    afterAll(() => server?.stop());

    const opens = async (logName: string, node?: string) => {
      const log = await server.open(logName, node);
      opened.push(log);
      return log;
    };
    /** Handles of one log that nobody else has, and that is begun. */
    async function handles(count: number, nodes: string[] = []): Promise<ClusterLog[]> {
      const logName = `log-${randomUUID()}`;
      const logs: ClusterLog[] = [];
      for (let at = 0; at < count; at += 1) logs.push(await opens(logName, nodes[at]));
      await logs[0]?.begin(`identity of ${logName}`);
      for (const log of logs) identities.set(log, `identity of ${logName}`);
      return logs;
    }
    async function one(): Promise<ClusterLog> {
      return (await handles(1))[0] as ClusterLog;
    }

    it('gives entries of many appenders in one order, to every reader', async () => {
      const logs = await handles(4);
      const [first, second] = logs as [ClusterLog, ClusterLog];
      const texts = (who: number) => Array.from({ length: 25 }, (_, i) => `${who} ${i}`);
      const early = taken(second, 1, 100);
      const offsets = await Promise.all(logs.map((log, who) => appendAll(log, texts(who))));
      const all = await early;
      expect(all.map(({ offset }) => offset)).toEqual(offsets.flat().sort((a, b) => a - b));
      for (const [who, own] of offsets.entries()) {
        expect(all.filter((entry) => own.includes(entry.offset)).map(textOf)).toEqual(texts(who));
      }
      const times = all.map(({ atMs }) => atMs);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times[0]).toBeGreaterThan(1_600_000_000_000);
      const middle = all[60]?.offset ?? 0;
      expect(await taken(first, middle, 40)).toEqual(all.slice(60));
      expect((await first.bounds()).end).toBe(all.at(-1)?.offset);
    });

    it('takes many entries at once, and large ones', async () => {
      const log = await one();
      const large = Array.from({ length: 12 }, (_, i) => new Uint8Array(128 << 10).fill(i));
      const small = Array.from({ length: 700 }, (_, i) => bytesOf(`${i}`));
      const offsets: number[] = [];
      for (const bytes of large) offsets.push(await append(log, bytes));
      offsets.push(...(await Promise.all(small.map((bytes) => append(log, bytes)))));
      const all: LogEntry[] = [];
      for await (const entries of log.read(1, new AbortController().signal)) {
        all.push(...entries);
        expect(entries.length).toBeLessThanOrEqual(512);
        const bytes = entries.reduce((sum, entry) => sum + entry.bytes.length, 0);
        expect(bytes).toBeLessThanOrEqual(name === 'memory' ? 8 << 20 : 4 << 20);
        if (all.length >= offsets.length) break;
      }
      expect(all.map(({ offset }) => offset)).toEqual(offsets);
      for (const [at, bytes] of large.entries()) {
        expect(Buffer.compare(bytes, all[at]?.bytes ?? Buffer.of())).toBe(0);
      }
      expect(all.slice(large.length).map(textOf)).toEqual(small.map((_, i) => `${i}`));
    });

    it('says again and again that nothing has come, and ends where it is told to', async () => {
      const log = await one();
      const [offset = 0] = await appendAll(log, ['a']);
      const enough = new AbortController();
      const given: number[] = [];
      for await (const entries of log.read(offset + 1, enough.signal)) {
        given.push(entries.length);
        if (given.length === 3) enough.abort();
      }
      expect(given).toEqual([0, 0, 0]);
    });

    it('is trimmed, and says so to whoever needs what is gone', async () => {
      const [log, other] = (await handles(2)) as [ClusterLog, ClusterLog];
      const offsets = await appendAll(log, ['a', 'b', 'c', 'd']);
      const [a = 0, , c = 0, d = 0] = offsets;
      await log.trim(c);
      expect(await other.bounds()).toMatchObject({ first: c, end: d });
      expect(await codeOf(takenToEnd(other, a))).toBe('LOG_TRIMMED');
      expect((await takenToEnd(other, c)).map(textOf)).toEqual(['c', 'd']);
      // Entries that are gone already may be trimmed again.
      await log.trim(a);
      expect((await takenToEnd(other, d)).map(textOf)).toEqual(['d']);
    });

    it('goes on with its numbers where it was trimmed empty', async () => {
      const [log, other] = (await handles(2)) as [ClusterLog, ClusterLog];
      const before = await log.bounds();
      const offsets = await appendAll(log, ['a', 'b']);
      const end = offsets.at(-1) as number;
      await log.trim(end + 1);
      const bounds = await other.bounds();
      const first = end + 1;
      expect(bounds).toMatchObject({ identity: before.identity, first, end });
      expect(await takenToEnd(other, end + 1)).toEqual([]);
      const next = await append(other, bytesOf('c'));
      expect(next).toBeGreaterThan(end);
      expect((await taken(log, end + 1, 1)).map(textOf)).toEqual(['c']);
      expect(await log.begin('late')).toBe(before.identity);
    });

    it('has the identity of one of those who begin it at once', async () => {
      const logName = `log-${randomUUID()}`;
      const logs = [await opens(logName), await opens(logName), await opens(logName)];
      expect((await logs[0]?.bounds())?.identity).toBe('');
      expect((await logs[0]?.bounds())?.end).toBe(0);
      const begun = await Promise.all(logs.map((log, at) => log.begin(`begun by ${at}`)));
      expect(new Set(begun).size).toBe(1);
      for (const log of logs) expect((await log.bounds()).identity).toBe(begun[0]);
      expect(await logs[2]?.begin('later')).toBe(begun[0]);
      identities.set(logs[1] as ClusterLog, begun[0] as string);
      const offsets = await appendAll(logs[1] as ClusterLog, ['a', 'b']);
      const read = await taken(logs[2] as ClusterLog, 1, 2);
      expect(read.map(({ offset }) => offset)).toEqual(offsets);
      expect(read.map(textOf)).toEqual(['a', 'b']);
    });

    it('knows who is how far, and who has left', async () => {
      const [log, other] = (await handles(2, ['n1', 'n2'])) as [ClusterLog, ClusterLog];
      expect(await other.positions()).toEqual([]);
      await log.say(position('n1', 'p1', 1));
      await log.say(position('n1', 'p1', 7));
      await other.say(position('n2', 'p2', 3));
      const seen = async () => {
        const all = await other.positions();
        expect(all.every(({ ageMs }) => ageMs >= 0 && ageMs < 60_000)).toBe(true);
        return all.map(({ node, process, offset, digest }) => [node, process, offset, digest]);
      };
      const all = [
        ['n1', 'p1', 7, 'p1 at 7'],
        ['n2', 'p2', 3, 'p2 at 3'],
      ];
      await expect.poll(async () => (await seen()).sort(), { timeout: 30_000 }).toEqual(all);
      // A process that was replaced does not take its successor away.
      if (name !== 'etcd') await log.leave(position('n2', 'an older one'));
      await log.leave(position('n1', 'p1'));
      await expect.poll(seen, { timeout: 30_000 }).toEqual(all.slice(1));
      const [one] = await other.positions();
      // etcd takes it away when it is old.
      if (name === 'etcd') return;
      await until('a position that grows old', async () => {
        const [later] = await other.positions();
        return (later?.ageMs ?? 0) > (one?.ageMs ?? 0);
      });
    });

    it('keeps the digest of the first who says one', async () => {
      const [log, other] = (await handles(2)) as [ClusterLog, ClusterLog];
      expect(await log.digestAt(5, 'one')).toBe('one');
      expect(await other.digestAt(5, 'two')).toBe('one');
      expect(await log.digestAt(5, 'three')).toBe('one');
      const both = [log.digestAt(6, 'left'), other.digestAt(6, 'right')];
      const [left, right] = await Promise.all(both);
      expect(left).toBe(right);
      expect(await log.digestAt(9, 'nine')).toBe('nine');
    });

    it('says that its server is away, and goes on when it is back', async () => {
      const [log, other] = (await handles(2, ['n', 'm'])) as [ClusterLog, ClusterLog];
      const { identity } = await log.bounds();
      const offsets = await appendAll(log, ['a', 'b']);
      const reading = log.read(1, new AbortController().signal)[Symbol.asyncIterator]();
      const begun: LogEntry[] = [];
      while (begun.length < 2) begun.push(...((await reading.next()).value ?? []));
      await log.say(position('n', 'p', 2));
      expect(await log.digestAt(2, 'kept')).toBe('kept');
      await server.kill();
      const toFailure = async () => {
        while (!(await reading.next()).done);
      };
      const calls = [
        toFailure(),
        append(log, bytesOf('lost')),
        log.bounds(),
        log.begin('x'),
        log.trim(1),
        log.say(position('n', 'p', 3)),
        other.digestAt(3, 'x'),
        takenToEnd(other, 1),
        server.open('another').then(async (late) => {
          opened.push(late);
          await late.bounds();
        }),
      ];
      const codes = await withinMs(kind.awayMs, Promise.all(calls.map(codeOf)));
      await server.start();
      expect(new Set(codes)).toEqual(new Set(['STORE_UNAVAILABLE']));
      const back = async () => codeOf(append(log, bytesOf('c')));
      await expect.poll(back, { timeout: 60_000 }).toBe('done');
      const after = await opens('after');
      expect(await codeOf(after.bounds())).toBe('done');
      expect((await log.bounds()).identity).toBe(identity);
      const all = await takenToEnd(other, 1);
      expect(all.slice(0, 2).map(({ offset }) => offset)).toEqual(offsets);
      expect(all.slice(0, 2).map(textOf)).toEqual(['a', 'b']);
      expect(all.map(textOf)).toContain('c');
      expect(await other.digestAt(2, 'changed')).toBe('kept');
      expect((await log.positions()).map(({ node }) => node)).toEqual(['n']);
    });
  });
}
