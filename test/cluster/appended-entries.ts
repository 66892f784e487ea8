/** Entries that no process of the cluster has written, put into its log by hand. */

import { randomUUID } from 'node:crypto';
import { Etcd, NodeKey } from '@tessera/etcd';
import { bodyText, type ClusterLog, EtcdLog, entryBytes, NO_OFFSET } from '@tessera/log';
import type { RealCluster } from './real-cluster.js';

/** As cluster.name is where nothing is said. */
const NAME = 'tessera';
const AT_ONCE = 256;

export interface HandMade {
  readonly key: string;
  readonly kind: string;
  readonly body: unknown;
  /** Name of the body in the store; left out: the entry has it. */
  readonly stored?: string;
}

/** Appender that has applied no history which an entry could contradict. */
const NOBODY = { offset: NO_OFFSET, chain: '' };

/** An entry as this release writes them. */
export function entryText({ key, kind, body, stored = '' }: HandMade): Buffer {
  const text = stored === '' ? bodyText(body) : '';
  return Buffer.from(entryBytes({ key, node: 'nobody', kind }, text, NOBODY, stored));
}

/** A change whose body is to be found in the store, where it is not. */
export function storedEntry(stored: string): Buffer {
  return entryText({ key: stored, kind: 'changes', body: null, stored });
}

/** An entry of a format that this release does not know. */
export function newerEntry(key: string): Buffer {
  const text = entryText({ key, kind: 'changes', body: {} }).toString();
  return Buffer.from(text.replace(/"format":\d+/, '"format":99'));
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
