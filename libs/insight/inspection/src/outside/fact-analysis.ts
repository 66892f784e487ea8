import { type AnalysisStore, DUCKDB, type HourSources, type Row } from '@tessera/analysis';
import { OPEN_RECALLS, ROLLED_RECALLS } from '@tessera/facts';
import type { InspectionStore, QueryLimits } from '../domain/inspection-store.js';

/** The facts of this machine, asked through the processes of queries. */
export class FactAnalysis implements AnalysisStore {
  readonly dialect = DUCKDB;

  constructor(
    private readonly store: Pick<InspectionStore, 'rows'>,
    private readonly limits: QueryLimits,
  ) {}

  async rows(
    statements: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (readonly Row[])[]> {
    const json = await this.store.rows(statements, this.limits, signal);
    return JSON.parse(Buffer.from(json).toString()) as readonly (readonly Row[])[];
  }

  async hours(): Promise<HourSources> {
    return { rolled: ROLLED_RECALLS, open: OPEN_RECALLS };
  }
}
