import { peerConnection, TesseraClient } from '@tessera/client';
import type { Config } from '@tessera/config';
import { PendingErasures } from '@tessera/erasure';
import type { Readiness } from '@tessera/lifecycle';
import type { RemotePool } from './followed-pools.js';
import type { UserErasure } from './user-erasure.js';

/** Erasures that an earlier process left, and where those of this one are remembered. */
export function pendingErasuresOf({ behaviours }: Config): Promise<PendingErasures> {
  const { path, erasuresPath } = behaviours;
  return PendingErasures.open(erasuresPath === '' ? `${path}.erasures` : erasuresPath);
}

/** The other processes that hold something of users. */
export function retrievalPools({
  behaviours,
  peer,
}: Config): (RemotePool & { readonly client: TesseraClient })[] {
  const connection = peerConnection(peer);
  return behaviours.retrieval
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
    .map((address) => ({ address, client: new TesseraClient(address, { connection }) }));
}

/** Erasures that wait are a condition of the process. */
export function watchErasures(erasure: UserErasure, readiness: Readiness): void {
  readiness.conditions.add({
    name: 'erasures',
    kind: 'store',
    isNeeded: false,
    read: () => {
      const count = erasure.pendingCount;
      if (count === 0) return { state: 'ok', reason: '' };
      const reason = `${count} erasures do not hold everywhere yet: see the log for what is away`;
      return { state: 'degraded', reason };
    },
  });
}
