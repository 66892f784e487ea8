/** The recalls that a question is about. */
export interface AnalysisFilter {
  /** Milliseconds since 1970: from, inclusive, to, exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Name; '' for the first. */
  readonly catalogue: string;
  readonly source: 'served' | 'console' | 'all';
  /** Digest; '' for the base model alone; left out: any. */
  readonly adapter?: string | undefined;
  readonly model?: string | undefined;
  /** Key and value of scenes. */
  readonly scenes: readonly (readonly [key: string, value: string])[];
  /** Name and value of attributes of items. */
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** Users of a panel alone: those whose pseudonyms are the lowest of so many equal parts. */
  readonly oneIn?: number | undefined;
}

/** Filter of the span of equal length before. */
export function spanBefore(filter: AnalysisFilter): AnalysisFilter {
  const { fromMs, toMs } = filter;
  return { ...filter, fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
}
