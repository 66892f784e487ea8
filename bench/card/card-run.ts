import { TesseraError } from '@tessera/errors';
import { UsageError } from '../../tools/terminal/command.js';
import { table } from '../../tools/terminal/table.js';
import { parseDocument } from './card-documents.js';
import type { CardFile, StepRecord } from './card-file.js';
import { runCommandWithin, type Step } from './step.js';

/** Exit status of programs that find no card, or no kernels for it. */
export const NO_CARD = 3;

/** A machine without a card, or an engine without kernels for it. */
export class NoCard extends Error {}

export interface RunOptions {
  readonly file: CardFile;
  /** From this step on all run again; left out: those alone that have not passed. */
  readonly from: string | undefined;
  readonly say: (line: string) => void;
}

/**
 * Runs steps one after the other and keeps each as it ends; one that fails is named, and those go
 * on that do not need it. Gives the names of those that failed.
 * @throws NoCard where a step found none, UsageError for a step to begin from that is not there
 */
export async function runSteps(
  steps: readonly Step[],
  { file, from, say }: RunOptions,
): Promise<readonly string[]> {
  const first = from === undefined ? 0 : steps.findIndex(({ name }) => name === from);
  if (first < 0) {
    const names = steps.map(({ name }) => name).join(', ');
    throw new UsageError(`--from: expected of ${names}, got ${from}`);
  }
  const failed: string[] = [];
  for (const [at, step] of steps.entries()) {
    const hasPassed = file.recordOf(step.name)?.outcome === 'passed';
    const isDone = from === undefined ? hasPassed : at < first;
    if (isDone && step.isSetUp !== true) continue;
    say(`${step.name}, at most ${step.limitSeconds} s`);
    const record = await recordOf(step);
    file.keep(step.name, record);
    if (record.outcome === 'skipped') say(`${step.name} is skipped: ${record.reason}`);
    if (record.outcome !== 'failed') continue;
    say(`${step.name} failed: ${record.reason}`);
    failed.push(step.name);
    if (step.isSetUp === true) break;
  }
  return failed;
}

async function recordOf(step: Step): Promise<StepRecord> {
  const begun = performance.now();
  const seconds = () => Math.round((performance.now() - begun) / 100) / 10;
  const ended = (outcome: StepRecord['outcome'], reason = ''): StepRecord => ({
    outcome,
    seconds: seconds(),
    reason,
    card: '',
    results: [],
  });
  const lacking = step.lacks?.();
  if (lacking !== undefined) return ended('skipped', lacking);
  let printed = '';
  for (const command of step.commands) {
    const limits = { seconds: step.limitSeconds - seconds(), isQuiet: step.prints === true };
    const { status, isLate, stdout, lastWords } = await runCommandWithin(command, limits);
    if (isLate) return ended('failed', `expected to end within ${step.limitSeconds} s`);
    if (status === NO_CARD) throw new NoCard(`${step.name}: ${lastWords}`);
    if (status !== 0) return ended('failed', lastWords || `${command.program} ended: ${status}`);
    printed = stdout;
  }
  if (step.prints !== true) return ended('passed');
  try {
    return Object.assign(ended('passed'), parseDocument(printed, step.name));
  } catch (error) {
    return ended('failed', TesseraError.from(error).message);
  }
}

/** The outcome of each step, and how many of its rows reach their bars. */
export function outcomeTable(steps: readonly Step[], file: CardFile): string {
  return table(
    [
      { name: 'step' },
      { name: 'outcome' },
      { name: 's', right: true },
      { name: '', isWhole: true },
    ],
    steps.map(({ name }) => {
      const record = file.recordOf(name);
      if (record === undefined) return [name, 'not run', '', ''];
      return [name, record.outcome, String(record.seconds), record.reason];
    }),
  );
}
