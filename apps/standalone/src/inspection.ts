import { join } from 'node:path';
import { parseCatalogueSpecs } from '@tessera/catalogue';
import { type Config, repositoryRoot } from '@tessera/config';
import {
  ChildInspectionStore,
  InspectedRecalls,
  type InspectionStore,
  parseWatchedUsers,
  type RecordOutcome,
} from '@tessera/inspection';
import type { Readiness } from '@tessera/lifecycle';
import type { RecallOperations, RecallRuntime } from '@tessera/recall';
import type { Log, Metrics } from '@tessera/telemetry';
import { MEBIBYTE, MILLISECONDS_PER_HOUR } from '@tessera/units';

const PULSE_MS = 5000;

/** A store, and a way to count the outcomes of its records later. */
export interface Inspection {
  readonly store: InspectionStore;
  countWith(count: (outcome: RecordOutcome, count: number) => void): void;
}

/** The program of the processes behind the store. */
const PROGRAM = join(repositoryRoot, 'dist', 'apps', 'inspection', 'src', 'main.js');

/** Bytes of memory of the database of recorded recalls. */
const RECORDER_BYTES = 256 * MEBIBYTE;
/** Recalls that wait to be recorded: some seconds of a busy node; further ones are left out. */
const QUEUE_MAX = 1000;
/** Limits of SQL queries and exports, each in a process of its own. */
const QUERY_LIMITS = {
  /** Queries at once; a further one is refused. */
  countMax: 4,
  /** Bytes of memory of one query; a query that needs more is ended. */
  memoryBytes: 512 * MEBIBYTE,
  /** Bytes that one query may spill to disk, and that its export may have. */
  diskBytes: 2 ** 30,
  /** Bytes of the rows of an answer; further rows are left out. */
  answerBytesMax: 4 * MEBIBYTE,
} as const;

/** Behind everything that serves, and queries behind the recorder. */
const NICENESS = { recorder: 5, query: 19 };

/**
 * Undefined where the configuration says that nothing is recorded. A store that is not to be had is
 * logged, tried again, and does not keep the service from serving.
 */
export async function openInspection(config: Config, log: Log): Promise<Inspection | undefined> {
  const { path, keepHours, keepBytes } = config.inspection;
  const { queryPriority } = config.console;
  if (path === '') return undefined;
  let tell: (outcome: RecordOutcome, count: number) => void = () => undefined;
  const store = await ChildInspectionStore.open({
    program: PROGRAM,
    niceness: NICENESS,
    path,
    memoryBytes: RECORDER_BYTES,
    queueMax: QUEUE_MAX,
    retention: { ageMsMax: keepHours * MILLISECONDS_PER_HOUR, bytesMax: keepBytes },
    queries: {
      isIdle: queryPriority === 'idle',
      ...QUERY_LIMITS,
    },
    onRecords: (outcome, count) => tell(outcome, count),
    onFault: (thrown) => log.error({ err: thrown }, 'the inspection store failed'),
  });
  if (store.condition().state !== 'ok') log.error({}, 'recalls are not recorded');
  return {
    store,
    countWith: (count) => {
      tell = count;
    },
  };
}

/** From now on records are counted, and the store is one of the conditions of the process. */
export function watchInspection(
  inspection: Inspection | undefined,
  metrics: Pick<Metrics, 'countInspected'>,
  readiness: Readiness,
): void {
  if (inspection === undefined) return;
  inspection.countWith((outcome, count) => metrics.countInspected(outcome, count));
  const read = () => inspection.store.condition();
  readiness.conditions.add({ name: 'inspection', kind: 'store', isNeeded: false, read });
}

/** From now on what becomes of the catalogues is recorded as well. */
export function recordChanges(
  { catalogue }: Config,
  operations: RecallOperations,
  store: InspectionStore | undefined,
): void {
  if (store === undefined) return;
  for (const { name } of [{ name: '' }, ...parseCatalogueSpecs(catalogue.more)]) {
    operations.changesOf(name).follow((applied) => {
      store.offerChange({ ...applied, catalogue: name, timeMs: Date.now() });
    });
  }
}

/** Recalls of the service, some of which are recorded. */
export function inspected(
  { inspection }: Config,
  { serving, operations }: RecallRuntime,
  store: InspectionStore | undefined,
): InspectedRecalls {
  return new InspectedRecalls({
    serving,
    store,
    rules: { percent: inspection.percent, users: parseWatchedUsers(inspection.users) },
    catalogueSequence: () => operations.changesOf('').state().sequence,
    nowMs: Date.now,
    draw: Math.random,
    pulseMs: PULSE_MS,
  });
}
