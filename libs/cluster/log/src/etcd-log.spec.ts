/** Transactions and leases of etcd keep late appends out. */

import { randomUUID } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Etcd, NodeKey } from '@tessera/etcd';
import { type EtcdServer, missingFor, startEtcdServer, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chained, EtcdLog, type LogEntry } from './index.js';

const missing = missingFor(['etcd']);
if (missing.length > 0) console.log(`etcd is not tested here: ${missing.join()} is missing`);

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = ({ bytes }: LogEntry) => new TextDecoder().decode(bytes);

async function all(log: EtcdLog): Promise<LogEntry[]> {
  const found: LogEntry[] = [];
  for await (const entries of log.read(1, new AbortController().signal)) {
    if (entries.length === 0) break;
    found.push(...entries);
  }
  return found;
}

/** A network that can hold up what is sent through it. */
class Link {
  isHeld = false;
  private readonly sockets = new Set<Socket>();
  private readonly held: (() => void)[] = [];
  private server: Server | undefined;

  constructor(private readonly to: string) {}

  async open(): Promise<string> {
    const [host = '', port = ''] = this.to.split(':');
    const server = createServer((near) => {
      const far = connect(Number(port), host);
      // Bytes that wait are delivered although the sender has given up.
      near.on('data', (bytes) => this.pass(() => far.write(bytes)));
      far.on('data', (bytes) => this.pass(() => near.write(bytes)));
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined);
      }
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as { readonly port: number }).port}`;
  }

  heal(): void {
    this.isHeld = false;
    for (const pass of this.held.splice(0)) pass();
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server?.close();
  }

  private pass(act: () => void): void {
    if (this.isHeld) this.held.push(act);
    else act();
  }
}

describe.skipIf(missing.length > 0)('a log in etcd', () => {
  let server: EtcdServer;
  beforeAll(async () => {
    server = await startEtcdServer();
  });
  afterAll(() => server?.stop());

  const opened = (name: string, node: string, address = server.address) =>
    new EtcdLog(new NodeKey(new Etcd(address), name, node));

  it('does not take an append that was given up and arrives behind a newer one', async () => {
    const name = randomUUID();
    const link = new Link(server.address);
    const [late, other] = [opened(name, 'late', await link.open()), opened(name, 'other')];
    const after = { offset: 0, chain: await other.begin('one') };
    await late.append(bytesOf('first'), after);
    link.isHeld = true;
    await expect(late.append(bytesOf('undoes'), after)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    await other.append(bytesOf('newer'), after);
    link.heal();
    await late.append(bytesOf('last'), after);
    expect((await all(other)).map(textOf)).toEqual(['first', 'newer', 'last']);
    await Promise.all([late.close(), other.close()]);
    link.close();
  });

  it('does not take an append that arrives when the node has lost its lease', async () => {
    const name = randomUUID();
    const link = new Link(server.address);
    const [late, other] = [opened(name, 'late', await link.open()), opened(name, 'other')];
    const after = { offset: 0, chain: await other.begin('one') };
    const position = { node: 'late', process: 'p', offset: 1, chain: '', erased: 1 };
    await late.append(bytesOf('first'), after);
    const word = { log: 'one', standing: 'serving', open: [], canSnapshot: true } as const;
    await late.say({ ...position, ...word, digest: '' });
    link.isHeld = true;
    await late.append(bytesOf('late'), after).catch(() => undefined);
    await until('others count on it no more', async () => (await other.positions()).length === 0);
    link.heal();
    await other.append(bytesOf('newer'), after);
    await until('it is back', async () => (await other.positions()).length === 1);
    expect((await all(other)).map(textOf)).toEqual(['first', 'newer']);
    await Promise.all([late.close(), other.close()]);
    link.close();
  });

  it('does not take an append of a node that has applied another history', async () => {
    const name = randomUUID();
    const log = opened(name, 'a');
    const identity = await log.begin('one');
    const start = { offset: 0, chain: identity };
    await log.append(bytesOf('a'), start);
    await log.append(bytesOf('b'), start);
    const a = chained(identity, bytesOf('a'));
    await expect(log.append(bytesOf('c'), { offset: 1, chain: a })).resolves.toBe(3);
    for (const after of [
      { offset: 9, chain: a },
      { offset: 2, chain: 'other' },
      { offset: 1, chain: 'other' },
      { offset: 0, chain: 'another log' },
    ]) {
      const refused = log.append(bytesOf('x'), after);
      await expect(refused).rejects.toMatchObject({ code: 'LOG_DIFFERENT' });
    }
    // Those that wait beside one that is refused land.
    const [bad, good] = await Promise.allSettled([
      log.append(bytesOf('bad'), { offset: 1, chain: 'other' }),
      log.append(bytesOf('good'), start),
    ]);
    expect([bad?.status, good?.status]).toEqual(['rejected', 'fulfilled']);
    expect((await all(log)).map(textOf)).toEqual(['a', 'b', 'c', 'good']);
    await log.close();
  });

  it('is begun anew for the state of one node, and names it', async () => {
    const name = randomUUID();
    const log = opened(name, 'a');
    const start = { offset: 0, chain: await log.begin('one') };
    for (const text of ['a', 'b', 'c']) await log.append(bytesOf(text), start);
    await log.digestAt(2, 'd');
    await log.trim(2);
    const anew = { founder: 'node-7', continues: ['one'] };
    await log.beginAnew('two', anew);
    expect(await log.bounds()).toMatchObject({
      identity: 'two',
      first: 1,
      end: 0,
      anew,
    });
    await expect(log.append(bytesOf('old'), start)).rejects.toMatchObject({
      code: 'LOG_DIFFERENT',
    });
    expect(await log.digestAt(2, 'other')).toBe('other');
    expect(await log.append(bytesOf('new'), { offset: 0, chain: 'two' })).toBe(1);
    await log.close();
  });
});
