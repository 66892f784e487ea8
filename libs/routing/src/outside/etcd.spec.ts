import { missingFor, startEtcdServer, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Member } from '../domain/members.js';
import { Etcd } from './etcd.js';
import { EtcdRegistration, etcdMembership } from './etcd-members.js';

const node = (name: string): Member => ({ name, grpc: `${name}:1`, http: `${name}:2`, weight: 2 });
const missing = missingFor(['etcd']);
if (missing.length > 0) console.log(`etcd is not tested here: ${missing.join()} is missing`);

describe.skipIf(missing.length > 0)('members in etcd', () => {
  let server: Awaited<ReturnType<typeof startEtcdServer>>;
  let etcd: Etcd;
  const seen: string[] = [];
  let membership: ReturnType<typeof etcdMembership>;
  const last = () => seen.at(-1);

  beforeAll(async () => {
    server = await startEtcdServer();
    etcd = new Etcd(`127.0.0.1:1, ${server.address}`);
    membership = etcdMembership(etcd, 'ours');
    await membership.start(async (members) => {
      seen.push(members.map(({ name }) => name).join());
    });
  });
  afterAll(async () => {
    membership?.close();
    await server?.stop();
  });

  it('come, go when they say so, and go when they say nothing any more', async () => {
    const [a, b, foreign] = ['ours', 'ours', 'theirs'].map(
      (name) => new EtcdRegistration(etcd, name),
    );
    await a?.join(node('a'));
    await b?.join(node('b'));
    await foreign?.join(node('c'));
    await until('two members', () => last() === 'a,b');
    await b?.leave();
    await until('one member', () => last() === 'a');
    // Keeps its lease no more, as a process that was killed.
    const dead = await etcd.grant(2);
    await etcd.putNew(
      '/tessera/ours/nodes/d',
      JSON.stringify(Object.assign(node('d'), { partitionCount: 65_536, instance: 'x' })),
      dead,
    );
    await until('a member that will not stay', () => last() === 'a,d');
    await until('it is gone', () => last() === 'a');
    await a?.leave();
    await foreign?.leave();
  });

  it('refuse a second process of one name, and take it where the first is gone', async () => {
    const first = new EtcdRegistration(etcd, 'twice');
    const second = new EtcdRegistration(etcd, 'twice');
    await first.join(node('n'));
    await expect(second.join(node('n'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: "node.name: expected a name that no other node of the cluster has, got 'n' at n:1",
    });
    const third = new EtcdRegistration(etcd, 'twice');
    const joined = third.join(node('n'));
    await first.leave();
    await joined;
    await third.leave();
  });

  it('stay the last ones while etcd is away, and are asked for again behind it', async () => {
    const member = new EtcdRegistration(etcd, 'ours');
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

  it('with another number of partitions are no members', async () => {
    const lease = await etcd.grant(5);
    const entry = Object.assign(node('p'), { partitionCount: 256, instance: 'x' });
    await etcd.putNew('/tessera/ours/nodes/p', JSON.stringify(entry), lease);
    await until('a fault', () => membership.reading().reason.includes('expected 65536 partitions'));
    await etcd.revoke(lease);
    await until('no fault', () => membership.reading().state === 'ok');
  });
});
