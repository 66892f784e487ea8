import { PROCESS_CLOCK } from '@tessera/turns';
import { Life } from './domain/life.js';
import type { NodeOptions } from './node.js';
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

/** Of one attempt of a node to follow the log. */
export function meansOf({
  log,
  store,
  cluster,
  clock = PROCESS_CLOCK,
  nodeLog,
}: NodeOptions): Means {
  const reached = new Reached(store, cluster);
  const watched = new WatchedLog(log, reached);
  return { log: watched, reached, work: new Work(clock, nodeLog), life: new Life() };
}
