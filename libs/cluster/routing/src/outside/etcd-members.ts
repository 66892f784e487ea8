import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expecting } from '@tessera/errors';
import type { Member } from '../domain/members.js';
import { PARTITION_COUNT } from '../domain/partition-owners.js';
import type { Etcd } from './etcd.js';
import { PolledMembership } from './polled-membership.js';

/** A node that is gone leaves the members after so long. */
const LEASE_SECONDS = 2;
const KEEP_EVERY_MS = 500;
const TAKE_ATTEMPTS_MAX = 8;

const invalid = expecting('CONFIG_INVALID');

const folderOf = (cluster: string) => `/tessera/${cluster}/nodes/`;

interface Entry extends Member {
  readonly instance: string;
  readonly partitionCount: number;
}

function entryOf(value: string): Entry {
  const entry = JSON.parse(value) as Entry;
  if (entry.partitionCount !== PARTITION_COUNT) {
    const field = `cluster.etcd: ${entry.name}`;
    throw invalid(field, `${PARTITION_COUNT} partitions`, entry.partitionCount);
  }
  return entry;
}

/** The nodes that hold a lease in etcd. */
export function etcdMembership(etcd: Etcd, cluster: string): PolledMembership {
  return new PolledMembership('cluster.etcd', async () => {
    const values = await etcd.valuesUnder(folderOf(cluster));
    // A node of an earlier release says no role: it is there for every call.
    return values
      .map(entryOf)
      .map(({ name, grpc, http, weight, role = 'both' }) => ({ name, grpc, http, weight, role }));
  });
}

/** One node among the members of its cluster, for as long as this process keeps its lease. */
export class EtcdRegistration {
  private readonly instance = randomUUID();
  private lease = '';
  private timer: NodeJS.Timeout | undefined;
  private isKeeping = false;
  private fault = '';
  private member: Member | undefined;

  constructor(
    private readonly etcd: Etcd,
    private readonly cluster: string,
  ) {}

  /** '' while the node is among the members. */
  get reason(): string {
    return this.fault;
  }

  /**
   * Rejects with CONFIG_INVALID where another process has the name and keeps it, and
   * STORE_UNAVAILABLE where etcd is away.
   */
  async join(member: Member): Promise<void> {
    this.member = member;
    for (let attempt = 1; ; attempt += 1) {
      const other = await this.take(member);
      if (other === undefined) break;
      // A process that was killed holds its name until its lease ends.
      if (attempt >= TAKE_ATTEMPTS_MAX) {
        throw invalid('node.name', `a name that no other node of the cluster has`, other);
      }
      await pause(KEEP_EVERY_MS);
    }
    this.timer = setInterval(() => void this.keep(), KEEP_EVERY_MS);
    this.timer.unref();
  }

  /** Says that the node goes: nobody waits for the lease to end. Never rejects. */
  async leave(): Promise<void> {
    clearInterval(this.timer);
    this.member = undefined;
    await this.etcd.revoke(this.lease).catch(() => undefined);
  }

  private async take(member: Member): Promise<string | undefined> {
    const { etcd } = this;
    this.lease = await etcd.grant(LEASE_SECONDS);
    const other = await this.put(member);
    if (other !== undefined) await etcd.revoke(this.lease);
    return other;
  }

  /** @returns what has the name instead; undefined: this process has it */
  private async put(member: Member): Promise<string | undefined> {
    const { etcd, cluster, instance, lease } = this;
    const { name, grpc, http, weight, role = 'both' } = member;
    const partitionCount = PARTITION_COUNT;
    const entry: Entry = { name, grpc, http, weight, role, partitionCount, instance };
    const found = await etcd.putNew(folderOf(cluster) + name, JSON.stringify(entry), lease);
    return found === undefined ? undefined : this.otherThan(found);
  }

  private otherThan(value: string): string | undefined {
    const { name, grpc, instance } = JSON.parse(value) as Partial<Entry>;
    return instance === this.instance ? undefined : `'${name}' at ${grpc}`;
  }

  /**
   * Keeps the lease and reads the own key back: a lease may live on while its key was taken away,
   * by hand or by a snapshot that etcd was restored from.
   */
  private async keep(): Promise<void> {
    const { member } = this;
    if (this.isKeeping || member === undefined) return;
    this.isKeeping = true;
    try {
      // Where it has ended, etcd or this process was away for longer than it lasts.
      const isKept = await this.etcd.keep(this.lease);
      const other = isKept ? await this.heldBy(member) : await this.take(member);
      this.fault = other === undefined ? '' : `another process has the name: ${other}`;
    } catch (thrown) {
      this.fault = (thrown as Error).message;
    } finally {
      this.isKeeping = false;
    }
  }

  /** @returns what has the name instead; undefined: this process has it, from now on at least */
  private async heldBy(member: Member): Promise<string | undefined> {
    const found = await this.etcd.valueOf(folderOf(this.cluster) + member.name);
    return found === undefined ? this.put(member) : this.otherThan(found);
  }
}
