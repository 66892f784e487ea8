/** Entries that no process of the cluster has written, put into its log by hand. */

import { randomUUID } from 'node:crypto';
import { Etcd, NodeKey } from '@tessera/etcd';
import { type ClusterLog, EtcdLog } from '@tessera/log';
import type { RealCluster } from './real-cluster.js';

/** As cluster.name is where nothing is said. */
const NAME = 'tessera';
const AT_ONCE = 256;

export interface HandMade {
  readonly key: string;
  readonly kind: string;
  readonly body: unknown;
  readonly format?: number;
}

export function entryText({ key, kind, body, format = 2 }: HandMade): Buffer {
  const head = { format, key, node: 'nobody', kind, stored: '' };
  return Buffer.from(`${JSON.stringify(head)}\n${JSON.stringify(body)}`);
}

/** A change whose body is to be found in the store, where it is not. */
export function storedEntry(stored: string): Buffer {
  const head = { format: 2, key: stored, node: 'nobody', kind: 'changes', stored };
  return Buffer.from(`${JSON.stringify(head)}\n`);
}

/** The log of a cluster, beside its processes; `act` is done with it. */
export async function withLog<T>(
  { log: { address } }: Pick<RealCluster, 'log'>,
  act: (log: ClusterLog) => Promise<T>,
): Promise<T> {
  const log = new EtcdLog(new NodeKey(new Etcd(address), NAME, `by hand ${randomUUID()}`));
  try {
    return await act(log);
  } finally {
    await log.close();
  }
}

/** The point that every entry of the log is behind. */
export async function beginningOf(log: ClusterLog) {
  return { offset: 0, chain: (await log.bounds()).identity };
}

/** So many entries that change nothing. */
export async function appendIdle(cluster: RealCluster, count: number): Promise<void> {
  const kind = 'drop-version';
  await withLog(cluster, async (log) => {
    const after = await beginningOf(log);
    for (let begun = 0; begun < count; begun += AT_ONCE) {
      const many = Array.from({ length: Math.min(AT_ONCE, count - begun) }, (_, n) =>
        log.append(entryText({ key: `idle ${begun + n}`, kind, body: { version: 'none' } }), after),
      );
      await Promise.all(many);
    }
  });
}
