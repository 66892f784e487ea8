import { availableParallelism, totalmem } from 'node:os';
import type { RecallRuntimeOptions } from '@tessera/recall';
import { USUAL } from '../simulate/options.js';
import { type Flags, fail } from '../terminal/command.js';
import { table } from '../terminal/table.js';
import { type MeasuredModel, measuredModel } from './costs.js';
import { type Fleet, type FleetQuestion, leastFleet } from './fleet.js';
import { type HeldOut, heldOut } from './held-out.js';
import type { Load } from './throughput.js';

export const PLAN_FLAGS = {
  qps: 'text',
  users: 'text',
  appends: 'text',
  'p99-ms': 'text',
  memory: 'text',
  disk: 'text',
  'link-mb': 'text',
} as const;

const PER_SECOND_MAX = 100_000;
const USERS_MAX = 10_000_000;
const MS_MAX = 600_000;
const MEGABYTES_MAX = 100_000_000;
const BYTES_PER_MEGABYTE = 1_000_000;
/** The pool's tiers in memory take as much by default. */
const MEMORY_SHARE = 3 / 16;
const USUAL_P99_MS = 100;
/** As kv.diskBytes is by default. */
const USUAL_DISK_MB = 4295;

export function planQuestion(flags: Flags): FleetQuestion {
  const recallsPerSecond = flags.integer('qps', 1, PER_SECOND_MAX);
  if (recallsPerSecond === undefined) fail('qps', 'recalls a second', 'nothing');
  const users = flags.integer('users', 1, USERS_MAX);
  if (users === undefined) fail('users', 'a number of users', 'nothing');
  const memoryMb = flags.integer('memory', 1, MEGABYTES_MAX);
  return {
    recallsPerSecond,
    users,
    appendsPerSecond: flags.integer('appends', 0, PER_SECOND_MAX) ?? recallsPerSecond,
    p99Ms: flags.integer('p99-ms', 1, MS_MAX) ?? USUAL_P99_MS,
    memoryBytes: memoryMb === undefined ? totalmem() * MEMORY_SHARE : memoryMb * BYTES_PER_MEGABYTE,
    diskBytes: (flags.integer('disk', 0, MEGABYTES_MAX) ?? USUAL_DISK_MB) * BYTES_PER_MEGABYTE,
    // A megabyte a second is a byte a microsecond.
    linkBytesPerUs: flags.integer('link-mb', 1, MEGABYTES_MAX) ?? USUAL.linkBytesPerUs,
  };
}

/** Measures the model here, checks the simulator against this machine, and plans. */
export async function planned(
  options: RecallRuntimeOptions,
  load: Load,
  question: FleetQuestion,
): Promise<string> {
  const model = await measuredModel(options, load);
  const check = await heldOut(options, load, model);
  const fleets = [leastFleet(model, question, false), leastFleet(model, question, true)];
  return [costsText(model), checkText(check), fleetText(question, fleets)].join('\n\n');
}

const text = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: 4 });

function costsText({ costs, steps, promptTokens }: MeasuredModel): string {
  const rows = [
    ['prompt of a recall', text(promptTokens), 'tokens'],
    ['a prompt token', text(costs.tokenUs), 'us'],
    ['more for each token before it', text(costs.pairUs), 'us'],
    ['steps of an answer', text(steps), ''],
    ['rows of a step', text(costs.rows), ''],
    ['a row', text(costs.rowUs), 'us'],
    ['a pass', text(costs.passUs), 'us'],
    ['keys and values of a token', text(costs.kvBytesPerToken), 'bytes'],
  ];
  return table([{ name: 'measured here' }, { name: 'value', right: true }, { name: 'unit' }], rows);
}

function checkText({ perSecond, predicted, measured }: HeldOut): string {
  const row = (name: string, wanted: number, got: number) => [
    name,
    text(wanted),
    text(got),
    `${(100 * (wanted / got - 1)).toFixed(0)} %`,
  ];
  const name = `one node, ${text(perSecond)} recalls/s, left out of the fit`;
  const columns = [{ name }, ...['predicted ms', 'measured ms', 'error'].map(right)];
  return table(columns, [
    row('answer, p50', predicted.p50Ms, measured.p50Ms),
    row('answer, p99', predicted.p99Ms, measured.p99Ms),
  ]);
}

const right = (name: string) => ({ name, right: true });

function fleetText(question: FleetQuestion, fleets: readonly (Fleet | undefined)[]): string {
  const { recallsPerSecond, users, p99Ms, memoryBytes } = question;
  const name = `${text(recallsPerSecond)} recalls/s, ${text(users)} users, p99 ${text(p99Ms)} ms`;
  const cells = (of: (fleet: Fleet) => string) =>
    fleets.map((fleet) => (fleet === undefined ? 'more than 1,000 nodes' : of(fleet)));
  const megabytes = (bytes: number) => text(bytes / BYTES_PER_MEGABYTE);
  const rows = [
    ['nodes', ...cells(({ nodes }) => text(nodes))],
    ['cores', ...cells(({ nodes }) => text(nodes * availableParallelism()))],
    ['memory for keys and values, MB a node', ...cells(() => megabytes(memoryBytes))],
    ['disk for keys and values, MB a node', ...cells(() => megabytes(question.diskBytes))],
    ['store, MB', ...cells(({ sharedBytes }) => megabytes(sharedBytes))],
    ['from the store, MB/s', ...cells(({ outcome }) => ofStore(outcome.storeReadBytes, outcome))],
    ['to the store, MB/s', ...cells(({ outcome }) => ofStore(outcome.storeWrittenBytes, outcome))],
    ['answer, p99, ms', ...cells(({ outcome }) => text(outcome.answer.p99Ms))],
    ['nodes in use, %', ...cells(({ outcome }) => text(100 * outcome.utilisation))],
  ];
  return table([{ name }, ...['no store', 'a store'].map(right)], rows);
}

const ofStore = (bytes: number, { seconds }: Fleet['outcome']): string =>
  text(bytes / BYTES_PER_MEGABYTE / seconds);
