import type { ClusterLog, EntryStore } from '@tessera/log';
import type { Log } from '@tessera/telemetry';
import { type Clock, PROCESS_CLOCK } from '@tessera/turns';
import { Life } from './domain/life.js';
import { Reached } from './reached.js';
import { WatchedLog } from './watched-log.js';
import { Work } from './work.js';

/** Means that all parts of a node use. */
export interface Means {
  readonly log: WatchedLog;
  readonly reached: Reached;
  readonly work: Work;
  readonly life: Life;
}

/** The parts that the means of a node are made of. */
interface MeansParts {
  readonly log: ClusterLog;
  readonly store: EntryStore;
  /** Name of the cluster. */
  readonly cluster: string;
  /** Left out: that of the process. */
  readonly clock?: Clock;
  readonly nodeLog: Log;
}

/** Means of one attempt of a node to follow the log. */
export function meansOf({
  log,
  store,
  cluster,
  clock = PROCESS_CLOCK,
  nodeLog,
}: MeansParts): Means {
  const reached = new Reached(store, cluster);
  const watched = new WatchedLog(log, reached);
  return { log: watched, reached, work: new Work(clock, nodeLog), life: new Life() };
}
