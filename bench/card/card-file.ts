import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { z } from 'zod';
import { commit, judge, type Result } from '../result.js';
import { type CardDocument, jsonOf, LINE } from './card-documents.js';
import { cardRows } from './card-rows.js';

const OUTCOME = z.enum(['passed', 'failed', 'skipped']);
const RECORD = z.object({
  outcome: OUTCOME,
  seconds: z.number(),
  /** The cause of a failure or of a skip. */
  reason: z.string().default(''),
  card: z.string().default(''),
  results: z.array(LINE).default([]),
});
const FILE = z.object({ commit: z.string(), steps: z.record(z.string(), RECORD) });

/** The outcome of a step, and its figures. */
export type StepRecord = z.infer<typeof RECORD>;
export type Outcome = z.infer<typeof OUTCOME>;

/** The one file of all runs of a commit on a card: outcomes by step, and the judged rows. */
export class CardFile {
  private constructor(
    private readonly path: string,
    private readonly steps: Map<string, StepRecord>,
  ) {}

  /**
   * Steps of another commit count for nothing.
   * @throws TesseraError REQUEST_INVALID for a file of another kind
   */
  static open(path: string): CardFile {
    if (!existsSync(path)) return new CardFile(path, new Map());
    const parsed = FILE.safeParse(jsonOf(readFileSync(path, 'utf8')));
    if (!parsed.success) {
      throw new TesseraError(
        'REQUEST_INVALID',
        `${path}: expected a file that npm run card has written, got another`,
        { field: 'out' },
      );
    }
    const { commit: measured, steps } = parsed.data;
    return new CardFile(path, new Map(measured === commit() ? Object.entries(steps) : []));
  }

  recordOf(step: string): StepRecord | undefined {
    return this.steps.get(step);
  }

  /** Kept at once, whole or not at all. */
  keep(step: string, record: StepRecord): void {
    this.steps.set(step, record);
    const steps = Object.fromEntries(this.steps);
    const fresh = `${this.path}.${process.pid}`;
    mkdirSync(dirname(this.path), { recursive: true });
    const content = { commit: commit(), steps, rows: this.rows() };
    writeFileSync(fresh, `${JSON.stringify(content, null, 2)}\n`);
    renameSync(fresh, this.path);
  }

  /** Rows of all steps together: ratios may be to numbers of other steps. */
  rows(): Result[] {
    const documents: CardDocument[] = [...this.steps.values()].filter(
      ({ results }) => results.length > 0,
    );
    return cardRows(documents).map(judge);
  }
}
