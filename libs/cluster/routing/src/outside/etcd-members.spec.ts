import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { Etcd, NodeKey } from '@tessera/etcd';
import { missingFor, startEtcdServer, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Member } from '../domain/members.js';
import { etcdMembership, joinMembers } from './etcd-members.js';

const node = (name: string): Member => ({ name, grpc: `${name}:1`, http: `${name}:2`, weight: 2 });
/** As another process does. */
const put = (etcd: Etcd, key: string, value: object, lease: string) =>
  etcd.transact([], {
    where: [{ put: key, value: Buffer.from(JSON.stringify(value)), lease }],
  });

/** A process of a node, as the cluster sees it. */
class Registered {
  private key: NodeKey | undefined;

  constructor(
    private readonly etcd: Etcd,
    private readonly cluster: string,
  ) {}

  get reason(): string {
    return this.key?.reason ?? '';
  }

  join(member: Member): Promise<void> {
    this.key = new NodeKey(this.etcd, this.cluster, member.name);
    return joinMembers(this.key, member);
  }

  async leave(): Promise<void> {
    await this.key?.leave();
  }
}

const missing = missingFor(['etcd']);
if (missing.length > 0) console.log(`etcd is not tested here: ${missing.join()} is missing`);

describe.skipIf(missing.length > 0)('members in etcd', () => {
  let server: Awaited<ReturnType<typeof startEtcdServer>>;
  let etcd: Etcd;
  const seen: string[] = [];
  const owners = new Map<string, string>();
  let membership: ReturnType<typeof etcdMembership>;
  const last = () => seen.at(-1);

  beforeAll(async () => {
    server = await startEtcdServer();
    etcd = new Etcd(`127.0.0.1:1, ${server.address}`);
    membership = etcdMembership(etcd, 'ours', (address) => owners.get(address));
    await membership.start(async (members) => {
      seen.push(members.map(({ name }) => name).join());
    });
  });
  afterAll(async () => {
    membership?.close();
    await server?.stop();
  });

  it('come, go when they say so, and go when they say nothing any more', async () => {
    const [a, b, foreign] = ['ours', 'ours', 'theirs'].map((name) => new Registered(etcd, name));
    await a?.join(node('a'));
    await b?.join(node('b'));
    await foreign?.join(node('c'));
    await until('two members', () => last() === 'a,b');
    await b?.leave();
    await until('one member', () => last() === 'a');
    // Keeps its lease no more, as a process that was killed.
    const dead = await etcd.grant(2);
    const entry = Object.assign(node('d'), { partitionCount: 65_536, instance: 'x' });
    await put(etcd, '/tessera/ours/nodes/d', entry, dead);
    await until('a member that will not stay', () => last() === 'a,d');
    await until('it is gone', () => last() === 'a');
    await a?.leave();
    await foreign?.leave();
  });

  it('say their roles, and those of an earlier release are there for every call', async () => {
    const first = new Registered(etcd, 'roles');
    await first.join({ name: 'a', grpc: 'a:1', http: 'a:2', weight: 2, role: 'append' });
    const lease = await etcd.grant(2);
    const older = Object.assign(node('b'), { partitionCount: 65_536, instance: 'x' });
    await put(etcd, '/tessera/roles/nodes/b', older, lease);
    const roles: unknown[] = [];
    const read = etcdMembership(etcd, 'roles');
    await read.start(async (members) => {
      roles.push(members.map(({ name, role }) => `${name} ${role}`).join());
    });
    read.close();
    expect(roles).toEqual(['', 'a append,b both']);
    await first.leave();
    await etcd.revoke(lease);
  });

  it('refuse a second process of one name, and take it where the first is gone', async () => {
    const first = new Registered(etcd, 'twice');
    const second = new Registered(etcd, 'twice');
    await first.join(node('n'));
    await expect(second.join(node('n'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: "node.name: expected a name that no other node of the cluster has, got 'n' at n:1",
    });
    const third = new Registered(etcd, 'twice');
    const joined = third.join(node('n'));
    await first.leave();
    await joined;
    await third.leave();
  });

  it('stay the last ones while etcd is away, and are asked for again behind it', async () => {
    const member = new Registered(etcd, 'ours');
    await member.join(node('e'));
    await until('the member', () => last() === 'e');
    await server.kill();
    await until('it is noticed', () => membership.reading().state === 'degraded');
    await until('the member notices too', () => member.reason !== '');
    expect(membership.reading().reason).toContain('the last table serves on');
    expect(last()).toBe('e');
    await server.start();
    await until('all is well', () => membership.reading().state === 'ok' && member.reason === '');
    await until('the member is back', () => last() === 'e');
    await member.leave();
  });

  it('are not lost by an entry that is none: it is skipped and named', async () => {
    const member = new Registered(etcd, 'ours');
    await member.join(node('e'));
    await until('the member', () => last() === 'e');
    const twin = Object.assign(node('e'), { name: 'zz', partitionCount: 65_536, instance: 'x' });
    for (const [value, reason] of [
      ['not json', 'got not json'],
      ['', 'got nothing'],
      ['7', 'got 7'],
      ['{"name":"zz"}', 'nodes/zz: expected a node with its name, addresses'],
      [JSON.stringify(node('e')), 'nodes/zz: expected a node with its name'],
    ] as const) {
      const put = { put: '/tessera/ours/nodes/zz', value: Buffer.from(value) };
      await etcd.transact([], { where: [put] });
      await until(reason, () => membership.reading().reason.includes(reason));
      const begun: string[] = [];
      const fresh = etcdMembership(etcd, 'ours');
      await fresh.start(async (members) => void begun.push(members.map(({ name }) => name).join()));
      fresh.close();
      expect(begun).toEqual(['', 'e']);
    }
    await put(etcd, '/tessera/ours/nodes/zz', twin, await etcd.grant(60));
    await until('the later one', () => last() === 'zz');
    expect(membership.reading().reason).toContain('address e:1 twice');
    owners.set('e:1', 'e');
    await until('the one that says so itself', () => last() === 'e');
    expect(membership.reading().reason).toContain('address e:1 twice');
    owners.clear();
    await until('the later one again', () => last() === 'zz');
    await etcd.transact([], { where: [{ remove: '/tessera/ours/nodes/zz' }] });
    await until('no fault', () => membership.reading().state === 'ok' && last() === 'e');
    await member.leave();
  });

  it('with another number of partitions are no members', async () => {
    const member = new Registered(etcd, 'ours');
    await member.join(node('e'));
    const lease = await etcd.grant(5);
    const entry = Object.assign(node('p'), { partitionCount: 256, instance: 'x' });
    await put(etcd, '/tessera/ours/nodes/p', entry, lease);
    await until('a fault', () => membership.reading().reason.includes('expected 65536 partitions'));
    expect(last()).toBe('e');
    await etcd.revoke(lease);
    await until('no fault', () => membership.reading().state === 'ok');
    await member.leave();
  });
});

/** Takes connections and says nothing. */
async function blackHole() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    address: `127.0.0.1:${port}`,
    asked: () => sockets.length,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Operations by the JSON gateway, as with etcdctl. */
async function operate(address: string, method: string, body: object): Promise<void> {
  const reply = await fetch(`http://${address}/v3/${method}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(await reply.text());
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const KEY = '/tessera/ours/nodes/n';
const textAt = async (etcd: Etcd) =>
  (await etcd.entriesUnder(KEY)).map(({ value }) => value.toString()).join();

describe.skipIf(missing.length > 0)('a node in etcd', () => {
  let server: Awaited<ReturnType<typeof startEtcdServer>>;
  beforeAll(async () => {
    server = await startEtcdServer();
  });
  afterAll(() => server?.stop());

  it('stays while the first address that it knows says nothing, and asks it no more', async () => {
    const silent = await blackHole();
    const etcd = new Etcd(`${silent.address},${server.address}`);
    const member = new Registered(etcd, 'silent');
    await member.join(node('n'));
    const held: unknown[] = [];
    await etcd.entriesUnder('/tessera/silent/');
    const asked = silent.asked();
    for (let look = 0; look < 50; look += 1) {
      held.push(...(await etcd.entriesUnder('/tessera/silent/')));
    }
    expect(held).toHaveLength(50);
    expect(silent.asked()).toBe(asked);
    expect(member.reason).toBe('');
    await member.leave();
    silent.stop();
  });

  it('puts its key back where it was taken away, and says whose it is', async () => {
    const etcd = new Etcd(server.address);
    const member = new Registered(etcd, 'ours');
    await member.join(node('n'));
    const take = () => operate(server.address, 'kv/deleterange', { key: base64(KEY) });
    await take();
    await until('the key is back', async () => (await etcd.entriesUnder(KEY)).length > 0);
    expect(member.reason).toBe('');
    const other = { name: 'n', grpc: 'elsewhere:1', instance: 'x' };
    // In one step: between two the node would have put its own back.
    await operate(server.address, 'kv/put', {
      key: base64(KEY),
      value: base64(JSON.stringify(other)),
    });
    await until('its own is back', async () => !(await textAt(etcd)).includes('elsewhere'));
    const replaced = async (value: string, more: object) => {
      for (;;) {
        await take();
        const put = { put: KEY, value: Buffer.from(value) };
        const { holds } = await etcd.transact([{ key: KEY, created: '0' }], {
          where: [Object.assign(put, more)],
        });
        if (holds) return;
      }
    };
    // No node that lives: no lease, or no words of one.
    const lease = await etcd.grant(60);
    for (const [value, more] of [
      [JSON.stringify(other), {}],
      ['not json', {}],
      ['', { lease }],
    ] as const) {
      await replaced(value, more);
      await until('its own is back', async () => (await textAt(etcd)).includes('"grpc":"n:1"'));
      expect(member.reason).toBe('');
    }
    await replaced(JSON.stringify(other), { lease });
    await until('another has the name', () => member.reason.includes("'n' at elsewhere:1"));
    await take();
    await until('it is back again', () => member.reason === '');
    await member.leave();
    expect(await etcd.entriesUnder(KEY)).toEqual([]);
  });

  it('keeps the lease of its key where another put its value without one', async () => {
    const etcd = new Etcd(server.address);
    const member = new Registered(etcd, 'ours');
    await member.join(node('n'));
    const value = base64(await textAt(etcd));
    await operate(server.address, 'kv/put', { key: base64(KEY), value });
    await until('the lease', async () => (await etcd.entriesUnder(KEY))[0]?.lease !== '0');
    const [before] = await etcd.entriesUnder(KEY);
    const kept = new Etcd(server.address);
    await until('beats', async () => (await kept.keep(before?.lease ?? '')) && kept.nowMs > 0);
    // A beat writes nothing where the key is as it should be.
    expect((await etcd.entriesUnder(KEY))[0]?.modified).toBe(before?.modified);
    await member.leave();
  });

  it('shows user and password, and a new token where etcd has forgotten the last', async () => {
    const own = await startEtcdServer();
    const act = (method: string, body: object) => operate(own.address, method, body);
    await act('auth/user/add', { name: 'root', password: 'r' });
    await act('auth/role/add', { name: 'root' });
    await act('auth/user/grant', { user: 'root', role: 'root' });
    await act('auth/enable', {});
    await expect(new Etcd(own.address).entriesUnder('/tessera/')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'cluster.etcdUser: expected a user, which this etcd asks for, got none',
    });
    const guessed = new Etcd(own.address, { username: 'root', password: 'x' });
    await expect(guessed.entriesUnder('/tessera/')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'cluster.etcdUser',
    });
    const etcd = new Etcd(own.address, { username: 'root', password: 'r' });
    const member = new Registered(etcd, 'ours');
    await member.join(node('n'));
    await own.kill();
    await own.start();
    await until('the node is back', async () => {
      const values = await etcd.entriesUnder('/tessera/').catch(() => []);
      return values.length === 1 && member.reason === '';
    });
    await member.leave();
    await own.stop();
  });

  it('speaks TLS where the address says so, and trusts the authority that is named', async () => {
    const file = (name: string) => `test/fixtures/tls/${name}`;
    const own = await startEtcdServer({
      certificatePath: file('server.pem'),
      keyPath: file('server.key'),
    });
    const ca = readFileSync(file('authority.pem'));
    const tls = { ca, cert: undefined, key: undefined };
    const trusting = new Etcd(`https://${own.address}/`, { tls });
    expect(await trusting.entriesUnder('/tessera/')).toEqual([]);
    for (const etcd of [new Etcd(`https://${own.address}`), new Etcd(own.address)]) {
      await expect(etcd.entriesUnder('/tessera/')).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
      });
    }
    await own.stop();
  });

  it.each(['https://a:1,b:2', 'a', 'ftp://a:1', 'a:1/path'])('%j is no address', (address) => {
    expect(() => new Etcd(address)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', field: 'cluster.etcd' }),
    );
  });
});
