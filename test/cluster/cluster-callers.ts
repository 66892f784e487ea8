/** Callers of any process of a cluster, as they are in other processes. */

import type * as grpc from '@grpc/grpc-js';
import { ServiceClient, type ServiceName } from '@tessera/client';
import { ERROR_TRAILERS } from '@tessera/errors';
import { until } from '@tessera/testing';
import { AdapterClient } from '../../tools/served/adapter-client.js';
import type { ItemState } from './cluster-model.js';
import type { RealCluster } from './real-cluster.js';

const CHANNEL = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 300 };
const KEY = 'idempotency-key';
const CALL_MS = 15_000;
const RECALL_MS = 8000;
/** A page of the console, and all attempts at one: a child that hangs is ended after 20 s. */
const PAGE_MS = 25_000;
const PAGES_MS = 60_000;
/** Time of a user's first behaviour. */
const FIRST_MS = 1_700_000_000_000;
const ITEM_ATTRIBUTE = 'count';

export interface Applied {
  readonly sequence: number;
  readonly alreadyApplied: boolean;
  readonly offset: number;
}

/** The code of the service; where it has said none, the status of gRPC. */
export function codeOf(thrown: unknown): string {
  const { metadata, code } = thrown as Partial<grpc.ServiceError>;
  return metadata?.get(ERROR_TRAILERS.code)[0]?.toString() ?? `status ${code}: ${thrown}`;
}

export class ClusterCallers {
  private readonly clients = new Map<string, ServiceClient<ServiceName>>();
  private key = '';
  private waitFor = '';

  constructor(private readonly cluster: RealCluster) {}

  /** Applies changes at a process. Rejects as gRPC does. */
  async apply(at: string, changes: readonly object[], key = '', waitFor = ''): Promise<Applied> {
    const client = this.client('tessera.catalogue.v1.CatalogueService', at);
    // Metadata are read before the call returns.
    this.key = key;
    this.waitFor = waitFor;
    const answer = client.call('Apply', { changes } as never, { deadline: Date.now() + CALL_MS });
    this.key = '';
    this.waitFor = '';
    return (await answer) as never;
  }

  /** Items by ID; those with a count of their own are as the callers of the days made them. */
  async items(at: string): Promise<Map<string, ItemState>> {
    const client = this.client('tessera.catalogue.v1.CatalogueService', at);
    const found = new Map<string, ItemState>();
    const options = { deadline: Date.now() + CALL_MS };
    for await (const { items } of client.stream('ListItems', {}, options)) {
      for (const { itemId, title, attributes, priority, paused } of items) {
        const { [ITEM_ATTRIBUTE]: count = 0 } = JSON.parse(attributes || '{}');
        found.set(itemId, { title, count, priority, isPaused: paused });
      }
    }
    return found;
  }

  async recall(at: string, userId: string | undefined, more: object = {}) {
    const client = this.client('tessera.recall.v1.RecallService', at);
    const source = userId === undefined ? {} : { userId };
    const request = { ...source, requireHistory: true, resultCount: 5, ...more };
    return client.call('Recall', request as never, { deadline: Date.now() + RECALL_MS });
  }

  /** Behaviours of a new user, with items of the demo. */
  async begin(at: string, userId: string, firstItem: number, firstMs = FIRST_MS): Promise<void> {
    const client = this.client('tessera.behaviour.v1.BehaviourService', at);
    const behaviours = Array.from({ length: 60 }, (_, n) => ({
      userId,
      eventId: `${userId} ${n}`,
      itemId: String(1 + ((firstItem + 7 * n) % 700)),
      action: 'click',
      timeMs: firstMs + 1000 * n,
      scene: {},
    }));
    await client.call('Append', { behaviours } as never, { deadline: Date.now() + CALL_MS });
  }

  async erase(at: string, userId: string, forMs = CALL_MS): Promise<void> {
    const client = this.client('tessera.behaviour.v1.BehaviourService', at);
    await client.call('Erase', { userId }, { deadline: Date.now() + forMs });
  }

  /** Data that a node keeps of a user. */
  async kept(node: string, userId: string): Promise<string[]> {
    const client = this.client('tessera.kv.v1.KvPoolService', node);
    const { chains } = await client.call('Inspect', { userId }, { deadline: Date.now() + CALL_MS });
    const recalls = await this.recordedOf(node, userId);
    const kept = chains.length === 0 ? [] : [`${node}: ${chains.length} chains of ${userId}`];
    return recalls.length === 0
      ? kept
      : [...kept, `${node}: ${recalls.length} recorded recalls of ${userId}`];
  }

  /** Recorded recalls of a user at a node, whose queries may have to be asked again. */
  private async recordedOf(node: string, userId: string): Promise<readonly unknown[]> {
    const query = new URLSearchParams({ userId, code: 'OK' });
    const url = `${this.cluster.httpOf(node)}/console/api/recalls?${query}`;
    let recalls: readonly unknown[] = [];
    const isAnswered = async () => {
      const signal = AbortSignal.timeout(PAGE_MS);
      const reply = await fetch(url, { signal }).catch(() => undefined);
      if (reply?.ok !== true) return false;
      ({ recalls } = (await reply.json()) as { readonly recalls: readonly unknown[] });
      return true;
    };
    await until(`${url} is answered`, isAnswered, PAGES_MS);
    return recalls;
  }

  /** Failures in the background that nothing awaited, since the process began. */
  async unawaited(at: string): Promise<number> {
    const reply = await fetch(`${this.cluster.httpOf(at)}/metrics`);
    const [, count] = /^tessera_unawaited_rejections_total (\d+)/m.exec(await reply.text()) ?? [];
    if (count === undefined) throw new Error(`${at}: expected the metric, got ${reply.status}`);
    return Number(count);
  }

  async push(at: string, folder: string, name: string): Promise<string> {
    const reply = await fetch(`${this.cluster.httpOf('node-1')}/health`);
    const { versions } = (await reply.json()) as { readonly versions: { readonly model: string } };
    const client = new AdapterClient(this.cluster.grpcOf(at));
    const pushed = { name, baseModel: versions.model };
    try {
      const answer = await client.pushFolder<{ version: { digest: string } }>(
        folder,
        pushed,
        CALL_MS,
      );
      return answer.version.digest;
    } finally {
      client.close();
    }
  }

  async adapter<Answer>(at: string, method: string, message: object): Promise<Answer> {
    const client = new AdapterClient(this.cluster.grpcOf(at));
    try {
      return await client.call<Answer>(method, message, CALL_MS);
    } finally {
      client.close();
    }
  }

  close(): void {
    for (const client of this.clients.values()) client.close();
    this.clients.clear();
  }

  private client<Name extends ServiceName>(name: Name, at: string): ServiceClient<Name> {
    const id = `${at} ${name}`;
    const known = this.clients.get(id);
    if (known !== undefined) return known as never;
    const headers = () => ({
      ...(this.key !== '' && { [KEY]: this.key }),
      ...(this.waitFor !== '' && { 'tessera-wait-for': this.waitFor }),
    });
    const made = new ServiceClient(name, this.cluster.grpcOf(at), { headers, channel: CHANNEL });
    this.clients.set(id, made as never);
    return made;
  }
}
