import { peerConnection, TesseraClient } from '@tessera/client';
import type { Config } from '@tessera/config';
import { PendingErasures } from '@tessera/erasure';
import type { RemotePool } from './followed-pools.js';

/** Erasures that an earlier process left, and where those of this one are remembered. */
export function pendingErasuresOf({ behaviours }: Config): Promise<PendingErasures> {
  return PendingErasures.open(`${behaviours.path}.erasures`);
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
