import { PendingErasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { partitionOf } from '@tessera/routing';
import type { Log } from '@tessera/telemetry';
import type { Cluster } from './cluster.js';
import { Holders } from './holders.js';
import { KeptErasures } from './kept-erasures.js';

/** Erasures of an earlier process are gone on with. Rejects with IO_FAILED. */
export async function openErasures(
  path: string,
  cluster: Cluster,
  log: Log,
): Promise<{ readonly erasures: KeptErasures; readonly holders: Holders }> {
  const holders = await Holders.open(path);
  const pending = await PendingErasures.open(path);
  const erasures = new KeptErasures({
    pending,
    log,
    nowMs: Date.now,
    holders: () => holders.names(),
    drop: async (holder, userId, deadlineMs) => {
      const link = cluster.link(holder);
      if (link === undefined) throw new TesseraError('NODE_UNAVAILABLE', 'it is no member now');
      if (link.state === 'down') throw new TesseraError('NODE_UNAVAILABLE', link.reason);
      await link.dropUser(userId, deadlineMs);
    },
    eraseBehaviours: async (userId, deadlineMs) => {
      const chosen = cluster.choose(partitionOf(userId));
      if (chosen === undefined) throw new TesseraError('NODE_UNAVAILABLE', 'no node is up');
      await chosen.link.erase(userId, deadlineMs);
    },
  });
  return { erasures, holders };
}
