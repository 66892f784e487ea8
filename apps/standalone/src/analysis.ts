import { type Config } from '@tessera/config';
import { parseOutcomes } from '@tessera/facts';
import { FactAnalysis } from '@tessera/inspection';
import { MILLISECONDS_PER_HOUR, MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { AnalysisPort } from '../../console/src/index.js';
import type { Inspection } from './inspection.js';

/** Milliseconds and rows of one question. */
const LIMITS = { timeoutMs: 30 * MILLISECONDS_PER_SECOND, rowsMax: 1_000_000 };
/** Facts of the last so many milliseconds may be missing in an answer. */
const REFRESH_MS = 10 * MILLISECONDS_PER_SECOND;
const PERCENT = 100;

/** Undefined where no facts are kept. */
export function analysisOf(
  { inspection: kept, behaviours }: Config,
  inspection: Inspection | undefined,
): AnalysisPort | undefined {
  if (inspection === undefined) return undefined;
  const { store, facts } = inspection;
  let refreshedMs = 0;
  let refreshing: Promise<void> = Promise.resolve();
  return {
    asking: {
      store: new FactAnalysis(store, LIMITS),
      actions: parseOutcomes(kept.outcomes, behaviours.clickActions),
    },
    state: () => facts.state(),
    refresh: () => {
      if (Date.now() - refreshedMs < REFRESH_MS) return refreshing;
      refreshedMs = Date.now();
      // Facts that cannot be written now are missing, and `about` says why.
      refreshing = facts.flush().catch(() => undefined);
      return refreshing;
    },
    keepMs: kept.keepHours * MILLISECONDS_PER_HOUR,
    keepBytes: kept.keepBytes,
    recordShare: kept.percent / PERCENT,
  };
}
