import type { BehaviourLog } from '@tessera/behaviour';
import type { Config } from '@tessera/config';
import type { PendingErasures } from '@tessera/erasure';
import { ClusterNode, eventualParts, type OpenedLog, type PositionKeeper } from '@tessera/node';
import type { Log } from '@tessera/telemetry';

/** Milliseconds between two notes of a position, at least. */
const NOTE_MS = 1000;

/** Behaviours with their position in the log. */
type MarkedBehaviours = Pick<BehaviourLog, 'erase'> & {
  readonly mark: string;
  noteMark(mark: string): Promise<void>;
};

export interface FollowedLog {
  readonly node: ClusterNode;
  close(): Promise<void>;
}

/**
 * A process with a store of behaviours follows the cluster log: whoever was erased while it was
 * away, or since its disk was copied, is in its list of erasures before it serves. Rejects with
 * LOG_TRIMMED, LOG_DIFFERENT.
 */
export async function followLog(
  config: Config,
  opened: OpenedLog,
  behaviours: Pick<BehaviourLog, 'erase'>,
  pending: PendingErasures,
  nodeLog: Log,
): Promise<FollowedLog> {
  const keeper = keeperOf(behaviours);
  const { node, cluster } = config;
  const options = {
    ...opened,
    node: node.name,
    cluster: cluster.name,
    pending,
    nodeLog,
    staleMs: cluster.staleMs,
  };
  const joined = await ClusterNode.joinPart(options, (log) => {
    const eventual = eventualParts({ log, behaviours, eraseRecalls: undefined, forget: undefined });
    return { keeper, ordered: [], eventual };
  });
  return {
    node: joined,
    close: async () => {
      await joined.close();
      await keeper.close();
    },
  };
}

/** Kept beside behaviours of this process's own; those in Redis are all nodes' to erase. */
function keeperOf(behaviours: object): PositionKeeper & { close(): Promise<void> } {
  const store = 'noteMark' in behaviours ? (behaviours as MarkedBehaviours) : undefined;
  let newest = store?.mark ?? '';
  let keptMs = Number.NEGATIVE_INFINITY;
  const keep = async () => {
    keptMs = performance.now();
    if (store !== undefined && newest !== store.mark) await store.noteMark(newest);
  };
  return {
    mark: () => newest,
    note: async (mark) => {
      newest = mark;
      // A start reads entries behind the kept position again: erasures that are done already.
      if (performance.now() - keptMs >= NOTE_MS) await keep().catch(() => undefined);
    },
    close: keep,
  };
}
