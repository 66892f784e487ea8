import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, repositoryRoot } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import {
  ChildFactStore,
  type EndedRecall,
  type FactOutcome,
  type RowTableName,
} from '@tessera/facts';
import { errorOfSystem } from '@tessera/files';
import {
  FactInspectionStore,
  InspectedRecalls,
  type InspectionStore,
  parseWatchedUsers,
} from '@tessera/inspection';
import type { Readiness } from '@tessera/lifecycle';
import type { RecallRuntime } from '@tessera/recall';
import type { Log, Metrics } from '@tessera/telemetry';
import { MEBIBYTE, MILLISECONDS_PER_HOUR } from '@tessera/units';

const PULSE_MS = 5000;

/** Stores of recorded recalls and of facts, and a way to count their outcomes later. */
export interface Inspection {
  readonly store: InspectionStore;
  readonly facts: ChildFactStore;
  /** Forgets all that is kept of a user's recalls; the number of recorded ones. */
  eraseUser(userId: string): Promise<number>;
  /** Within the milliseconds. */
  close(budgetMs?: number): Promise<void>;
  countWith(counts: OutcomeCounts): void;
  /** Makes these keys of scenes columns for SQL. */
  showScenes(keys: readonly string[]): void;
}

interface OutcomeCounts {
  records(outcome: FactOutcome, count: number): void;
  facts(outcome: FactOutcome, count: number): void;
}

/** The program of the processes behind the store. */
const PROGRAM = join(repositoryRoot, 'dist', 'apps', 'inspection', 'src', 'main.js');

/** Limits of SQL queries and exports, each in a process of its own. */
const QUERY_LIMITS = {
  /** At once: questions of pages, and queries of people. */
  pagesMax: 3,
  sqlMax: 3,
  /** Milliseconds that a query waits for its turn; then it is refused. */
  waitMs: 30_000,
  /** Bytes of memory of one query; a query that needs more is ended. */
  memoryBytes: 512 * MEBIBYTE,
  /** Bytes that one query may spill to disk, and that its export may have. */
  diskBytes: 2 ** 30,
  /** Bytes of the rows of an answer; further rows are left out. */
  answerBytesMax: 4 * MEBIBYTE,
} as const;

/** Niceness: behind everything that serves, and not starved by it. */
const NICENESS = 5;
/** Database of recorded recalls that an earlier release wrote. */
const EARLIER_STORE = 'inspection.duckdb';

/** Stores whose processes begin while others load. */
export interface OpeningInspection {
  readonly opened: Promise<Inspection | undefined>;
  /** Undefined where nothing is recorded. */
  readonly eraseUser: ((userId: string) => Promise<number>) | undefined;
  close(): Promise<void>;
}

export function beginInspection(config: Config, log: Log): OpeningInspection {
  const opened = openInspection(config, log).catch((thrown: unknown) => {
    const { code, message } = errorOfSystem(thrown);
    const field = 'inspection.path';
    throw new TesseraError(code, `${field}: ${message}`, { field, cause: thrown });
  });
  const unlessFailed = opened.catch(() => undefined);
  const eraseUser = async (userId: string) => (await opened)?.eraseUser(userId) ?? 0;
  return {
    opened,
    eraseUser: config.inspection.path === '' ? undefined : eraseUser,
    close: async () => (await unlessFailed)?.close(),
  };
}

/**
 * Undefined where the configuration says that nothing is recorded. A store that is not to be had is
 * logged, tried again, and does not keep the service from serving.
 */
export async function openInspection(config: Config, log: Log): Promise<Inspection | undefined> {
  const { path } = config.inspection;
  if (path === '') return undefined;
  const sceneKeys: string[] = [];
  // Of facts that the process before this one has lost.
  let early = 0;
  let counts: OutcomeCounts = {
    records: () => undefined,
    facts: (_outcome, count) => {
      early += count;
    },
  };
  const facts = await openFacts(config, log, (outcome, count, table) => {
    if (table === 'recalls') counts.records(outcome, count);
    else counts.facts(outcome, count);
  });
  const store = await FactInspectionStore.open({
    path,
    facts,
    sceneKeys,
    program: PROGRAM,
    niceness: NICENESS,
    queries: QUERY_LIMITS,
    onFault: (thrown) => log.error({ err: thrown }, 'the inspection store failed'),
  });
  if (facts.condition() !== '') log.error({}, 'recalls are not recorded');
  if (existsSync(join(path, EARLIER_STORE))) {
    const told = 'recorded recalls of an earlier release are not read, and erasures do not reach';
    log.warn({ file: join(path, EARLIER_STORE) }, `${told} them: delete the file`);
  }
  return {
    store,
    facts,
    eraseUser: (userId) => store.eraseUser(userId),
    close: async (budgetMs) => {
      await Promise.all([store.close(), facts.close(budgetMs)]);
    },
    showScenes: (keys) => {
      sceneKeys.splice(0, sceneKeys.length, ...keys);
    },
    countWith: (wanted) => {
      counts = wanted;
      wanted.facts('dropped', early);
    },
  };
}

/** Rows that wait for their process at most: some seconds of a busy node; further ones are lost. */
const FACTS_QUEUE_MAX = 20_000;
const FACTS_BYTES = 256 * MEBIBYTE;
const FACT_LIMITS = {
  /** Rows of a file, of which there is one a minute or more. */
  fileRowsMax: 50_000,
  /** Rows that wait for a disk that takes none. */
  waitingRowsMax: 200_000,
  /** Milliseconds that a file which was merged is kept for exports that read it. */
  graceMs: 310_000,
} as const;

function openFacts(
  { inspection: { path, keepHours, keepBytes }, node }: Config,
  log: Log,
  onFacts: (outcome: FactOutcome, count: number, table: RowTableName) => void,
): Promise<ChildFactStore> {
  return ChildFactStore.open({
    program: [PROGRAM, 'facts', String(NICENESS)],
    path: join(path, 'facts'),
    node: node.name,
    memoryBytes: FACTS_BYTES,
    queueMax: FACTS_QUEUE_MAX,
    ...FACT_LIMITS,
    keepMs: keepHours * MILLISECONDS_PER_HOUR,
    keepBytes,
    onFacts,
    onFault: (thrown) => log.error({ err: thrown }, 'facts of recalls are not written'),
  });
}

/** Counts records, and makes the store one of the conditions of the process. */
export function watchInspection(
  inspection: Inspection | undefined,
  metrics: Pick<Metrics, 'countKept'>,
  readiness: Readiness,
): void {
  if (inspection === undefined) return;
  const { facts } = inspection;
  inspection.countWith({
    records: (outcome, count) => metrics.countKept('records', outcome, count),
    facts: (outcome, count) => metrics.countKept('facts', outcome, count),
  });
  const read = () => {
    const reason = facts.condition();
    return reason === ''
      ? ({ state: 'ok', reason } as const)
      : ({ state: 'down', reason } as const);
  };
  readiness.conditions.add({ name: 'facts', kind: 'store', isNeeded: false, read });
}

/** Recalls of the service, some of which are recorded. */
export function inspected(
  { inspection }: Config,
  { serving, operations }: RecallRuntime,
  store: InspectionStore | undefined,
  onTried: (recall: EndedRecall) => void,
): InspectedRecalls {
  return new InspectedRecalls({
    serving,
    store,
    onTried: (request, outcome) =>
      onTried({ timeMs: Date.now(), edge: 'console', request, outcome }),
    rules: { percent: inspection.percent, users: parseWatchedUsers(inspection.users) },
    catalogueSequence: () => operations.changesOf('').state().sequence,
    nowMs: Date.now,
    draw: Math.random,
    pulseMs: PULSE_MS,
  });
}
