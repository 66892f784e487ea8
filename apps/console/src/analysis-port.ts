import type { Asking } from '@tessera/analysis';
import type { FactState } from '@tessera/facts';

/** The facts of recalls, as the console asks them. */
export interface AnalysisPort {
  readonly asking: Omit<Asking, 'signal'>;
  readonly state: () => Promise<FactState>;
  /** Facts that were told so far can be asked for when it resolves, but for some seconds. */
  readonly refresh: () => Promise<void>;
  /** Milliseconds and bytes beyond which the oldest facts are deleted. */
  readonly keepMs: number;
  readonly keepBytes: number;
  /** Share of the recalls that are recorded whole: 0..1. */
  readonly recordShare: number;
}
