import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { peerConnection, TesseraClient } from '@tessera/client';
import { type Config, followsLog } from '@tessera/config';
import { lockFile } from '@tessera/engine';
import { PendingErasures } from '@tessera/erasure';
import { expecting, TesseraError } from '@tessera/errors';
import { isNodeRole } from '@tessera/routing';
import type { RemotePool } from './followed-pools.js';

const invalid = expecting('CONFIG_INVALID');

/**
 * Erasures that an earlier process left, and where those of this one are remembered. Two processes
 * of one host may have one path, and would wipe each other's: where no store of behaviours beside
 * them is locked, they are, until the process ends. Rejects with STORE_INVALID.
 */
export async function pendingErasuresOf(config: Config): Promise<PendingErasures> {
  const folder = folderOf(config.behaviours);
  await mkdir(folder, { recursive: true });
  const isBesideStore = config.behaviours.store === 'embedded' && !followsLog(config);
  if (isBesideStore) return PendingErasures.open(folder);
  try {
    LOCKS.push(lockFile(join(folder, 'lock')));
  } catch (thrown) {
    const { code, message } = TesseraError.from(thrown);
    const field = 'behaviours.path';
    throw new TesseraError(code, `${field}: ${message}`, { field, cause: thrown });
  }
  return PendingErasures.open(folder);
}

/** Locks of this process: one that nobody holds any more is free. */
const LOCKS: (() => void)[] = [];

const folderOf = ({ path }: Config['behaviours']) => `${path}.erasures`;

/**
 * The other processes that hold something of users.
 * @throws TesseraError CONFIG_INVALID
 */
export function retrievalPools({
  behaviours,
  peer,
}: Config): (RemotePool & { readonly client: TesseraClient })[] {
  const connection = peerConnection(peer);
  return behaviours.retrieval
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
    .map((word) => {
      const { address, role } = poolOf(word);
      return { address, role, client: new TesseraClient(address, { connection }) };
    });
}

/** HOST:PORT, with `@append` or `@answer` behind where it is the address of such a node. */
function poolOf(word: string): Pick<RemotePool, 'address' | 'role'> {
  const [address = '', role = 'both', ...more] = word.split('@');
  if (address !== '' && more.length === 0 && isNodeRole(role)) return { address, role };
  throw invalid('behaviours.retrieval', 'HOST:PORT, with @append or @answer or without', word);
}
