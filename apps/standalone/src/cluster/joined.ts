import type { Config } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { Seat } from '@tessera/log';
import type { RecallRuntime } from '@tessera/recall';
import type { Log } from '@tessera/telemetry';
import type { OpenedLog } from '../../../feature/src/index.js';
import { ClusterNode } from './cluster-node.js';
import { stateFolders } from './state-folders.js';

interface JoiningParts {
  readonly config: Config;
  /** Undefined: this process is the only one. */
  readonly opened: OpenedLog | undefined;
  readonly eraseRecalls: ((userId: string) => Promise<number>) | undefined;
  readonly log: Log;
  readonly load: () => Promise<RecallRuntime>;
}

export interface Joined {
  readonly runtime: RecallRuntime;
  /** Undefined: this process is the only one. */
  readonly clusterNode: ClusterNode | undefined;
}

/** Times that a node begins anew: with the newest snapshot, of a log that goes on meanwhile. */
const ATTEMPTS = 3;

/**
 * Loads the state of this node, and brings it to where the cluster log is. A state that entries of
 * the log cannot go on from is put aside, and that of the newest snapshot loaded in its place.
 */
export async function joined(parts: JoiningParts): Promise<Joined> {
  const { config, opened, eraseRecalls, log, load } = parts;
  if (opened === undefined) return { runtime: await load(), clusterNode: undefined };
  if (config.catalogue.changesPath === '') {
    const message = 'catalogue.changesPath: expected a folder beside cluster.log, got none';
    throw new TesseraError('CONFIG_INVALID', message, { field: 'catalogue.changesPath' });
  }
  const seatParts = { ...opened, folders: stateFolders(config), nodeLog: log };
  for (let attempt = 1; ; attempt += 1) {
    const seat = await Seat.take(seatParts, attempt > 1);
    const runtime = await load();
    try {
      const clusterNode = await ClusterNode.open(
        { config, opened, runtime, eraseRecalls, log },
        seat,
      );
      return { runtime, clusterNode };
    } catch (thrown) {
      await runtime.close();
      const error = TesseraError.from(thrown);
      if (error.code !== 'LOG_TRIMMED' || attempt === ATTEMPTS) throw error;
      log.warn({ err: error }, 'the state of this node is begun anew from the cluster log');
    }
  }
}
