import { parseCatalogueSpecs } from '@tessera/catalogue';
import type { Config } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import {
  DuckDbInspectionStore,
  InspectedRecalls,
  type InspectionStore,
  parseWatchedUsers,
  type RecordOutcome,
} from '@tessera/inspection';
import type { RecallRuntime } from '@tessera/recall';
import type { Log } from '@tessera/telemetry';

const MILLISECONDS_PER_HOUR = 3_600_000;
const PULSE_MS = 5000;

/** A store, and who counts how its recalls fare once somebody does. */
export interface Inspection {
  readonly store: InspectionStore;
  countWith(count: (outcome: RecordOutcome, count: number) => void): void;
}

/**
 * Undefined where nothing is recorded: the configuration says so, or the store is not to be had,
 * which is logged and does not keep the service from serving.
 */
export async function openInspection(config: Config, log: Log): Promise<Inspection | undefined> {
  const { path, memoryBytes, queueMax, keepHours, keepBytes } = config.inspection;
  if (path === '') return undefined;
  let tell: (outcome: RecordOutcome, count: number) => void = () => undefined;
  try {
    const store = await DuckDbInspectionStore.open({
      path,
      memoryBytes,
      queueMax,
      retention: { ageMsMax: keepHours * MILLISECONDS_PER_HOUR, bytesMax: keepBytes },
      onRecords: (outcome, count) => tell(outcome, count),
      onFault: (thrown) => log.error({ err: thrown }, 'the inspection store failed'),
    });
    return {
      store,
      countWith: (count) => {
        tell = count;
      },
    };
  } catch (thrown) {
    log.error({ err: TesseraError.from(thrown) }, 'recalls are not recorded');
    return undefined;
  }
}

/** From now on what becomes of the catalogues is recorded as well. */
export function recordChanges(
  { catalogue }: Config,
  runtime: Pick<RecallRuntime, 'changesOf'>,
  store: InspectionStore | undefined,
): void {
  if (store === undefined) return;
  for (const { name } of [{ name: '' }, ...parseCatalogueSpecs(catalogue.more)]) {
    runtime.changesOf(name).follow((applied) => {
      store.offerChange({ ...applied, catalogue: name, timeMs: Date.now() });
    });
  }
}

/** Recalls of the runtime, some of which are recorded. */
export function inspected(
  { inspection }: Config,
  runtime: Pick<RecallRuntime, 'recall' | 'changesOf'>,
  store: InspectionStore | undefined,
): InspectedRecalls {
  return new InspectedRecalls({
    runtime,
    store,
    rules: { percent: inspection.percent, users: parseWatchedUsers(inspection.users) },
    catalogueSequence: () => runtime.changesOf('').state().sequence,
    nowMs: Date.now,
    draw: Math.random,
    pulseMs: PULSE_MS,
  });
}
