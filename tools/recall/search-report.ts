import { writeFile } from 'node:fs/promises';
import type { EnginePass } from '@tessera/engine';
import type { Certificate } from '@tessera/recall';

/** The proof of a search, and its cost. */
export interface SearchReport {
  readonly certified: boolean;
  /** Rows of beams. */
  readonly rows: number;
  /** From the one that ends the prompt: a beam has as many as it has steps. */
  readonly passes: number;
  /** The best score that an item missed by the search could have; null: none can, or not known. */
  readonly gap: number | null;
}

export function searchReport(
  { certified, rows, gap }: Omit<Certificate, 'search'>,
  passes: readonly EnginePass[],
): SearchReport {
  const decodes = passes.filter(({ kind }) => kind === 'decode').length;
  return { certified, rows, passes: 1 + decodes, gap: gap ?? null };
}

/** A line of JSON for each prompt, in their order. */
export async function writeReports(
  path: string | undefined,
  reports: readonly SearchReport[],
): Promise<void> {
  if (path === undefined) return;
  await writeFile(path, reports.map((report) => `${JSON.stringify(report)}\n`).join(''));
}

/** For people: `certified, 83 rows in 4 passes`. */
export function describeReport({ certified, rows, passes, gap }: SearchReport): string {
  const missed = gap === null ? 'not certified' : `not certified, gap ${gap.toFixed(4)}`;
  return `${certified ? 'certified' : missed}; ${rows} rows in ${passes} passes`;
}
