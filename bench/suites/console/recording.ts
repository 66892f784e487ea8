import { join } from 'node:path';
import { type ChildInspectionStore, InspectedRecalls } from '@tessera/inspection';
import { createRecallRuntime, type RecallRequest, type RecallRuntime } from '@tessera/recall';
import { Flags } from '../../../tools/terminal/command.js';
import { MODEL_FLAGS, runtimeOptions } from '../../../tools/terminal/model-flags.js';
import { SHAPES } from '../../models/model-shape.js';
import { type Measurement, mean, quantile } from '../../result.js';
import { servedModel } from '../streams/served-model.js';
import type { SuiteContext } from '../suite.js';
import { benchStore } from './bench-store.js';

const BUDGET_US = 60e6;
const USERS_MAX = 200;
const HISTORIES = 20;
const HISTORY_ITEMS = 100;
/** Of a recorded recall's latency, against one that is not. */
const RECORDING_BAR = 1.02;
const KINDS = ['plain', 'recorded'] as const;
type Kind = (typeof KINDS)[number];
/** Microseconds of each recall of a turn of either kind. */
type Round = Readonly<Record<Kind, readonly number[]>>;
/** Of a turn: some batches of records are written in it. */
const TURN_MS = 2500;

const NO_WISHES = {
  requestId: '',
  profile: {},
  scene: {},
  resultCount: 0,
  widths: [],
  itemsPerSid: 0,
  skipUnknownItems: true,
};

/** Recorded and not recorded by turns, so that both meet the same machine. */
export async function recording(context: SuiteContext, path: string): Promise<Measurement[]> {
  const { quick, flags, say } = context;
  const rounds = quick ? 6 : 24;
  const measured = await measuredOn(context, flags, join(path, 'served'), rounds);
  if (quick) return measured;
  const large = servedModel(SHAPES['8x512'], say);
  const ofLarge = Flags.parse(['--model', large, '--dtype', 'bf16'], MODEL_FLAGS);
  const others = await measuredOn(context, ofLarge, join(path, 'large'), rounds);
  return [...measured, ...others.map((one) => ({ ...one, name: `8x512, ${one.name}` }))];
}

async function measuredOn(
  { say }: SuiteContext,
  flags: Flags,
  path: string,
  count: number,
): Promise<Measurement[]> {
  const runtime = await createRecallRuntime(runtimeOptions(flags, () => undefined));
  const store = await benchStore(path);
  const recalls = inspected(runtime, store);
  try {
    say(`${count} turns of ${TURN_MS} ms, recorded and not`);
    const rounds = await roundsOf(recalls, store, await requestsFor(runtime), count);
    const { dropped } = await store.state();
    return [...compared(rounds), { name: 'records dropped', value: dropped, unit: '', bar: null }];
  } finally {
    recalls.close();
    await store.close();
    await runtime.close();
  }
}

function inspected(runtime: RecallRuntime, store: ChildInspectionStore): InspectedRecalls {
  return new InspectedRecalls({
    serving: runtime.serving,
    store,
    rules: { percent: 0, users: new Set() },
    catalogueSequence: () => 0,
    nowMs: Date.now,
    draw: () => 1,
    pulseMs: 5000,
  });
}

/** Of known users, or of histories drawn from the catalogue where there are none. */
async function requestsFor(runtime: RecallRuntime): Promise<RecallRequest[]> {
  const users = await runtime.facts.sampleUserIds(USERS_MAX);
  if (users.length > 0) return users.map((userId) => ({ ...NO_WISHES, userId }));
  const { pages } = await runtime.operations.changesOf('').listItems();
  const itemIds = [...pages].flat().map(({ itemId }) => itemId);
  return Array.from({ length: HISTORIES }, (_, user) => {
    const pick = (at: number) => itemIds[(user * 7919 + at * 104_729) % itemIds.length] as string;
    return { ...NO_WISHES, history: Array.from({ length: HISTORY_ITEMS }, (_, at) => pick(at)) };
  });
}

/** The first one, which warms up, is left out. */
async function roundsOf(
  recalls: InspectedRecalls,
  store: ChildInspectionStore,
  requests: readonly RecallRequest[],
  count: number,
): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round <= count; round++) {
    const times: Record<Kind, number[]> = { plain: [], recorded: [] };
    for (const kind of round % 2 === 0 ? KINDS : [...KINDS].reverse()) {
      times[kind] = await turnOf(recalls, requests, kind);
      // A backlog of records must not burden the turn of recalls that are not recorded.
      await store.settled();
    }
    if (round > 0) rounds.push(times);
  }
  return rounds;
}

async function turnOf(
  recalls: InspectedRecalls,
  requests: readonly RecallRequest[],
  kind: Kind,
): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + TURN_MS;
  for (let at = 0, began = performance.now(); began < end; at++) {
    const request = requests[at % requests.length] as RecallRequest;
    const asked = { ...request, wantsSight: kind === 'recorded' };
    const { signal } = new AbortController();
    await recalls.recall(asked, { signal, budgetUs: BUDGET_US });
    const now = performance.now();
    times.push((now - began) * 1000);
    began = now;
  }
  return times;
}

/** The ratio is the median of those of the rounds: what else the machine does meets few of them. */
function compared(rounds: readonly Round[]): Measurement[] {
  const against = (of: (values: readonly number[]) => number) => ({
    value: quantile(
      rounds.map(({ recorded }) => of(recorded)),
      0.5,
    ),
    unit: 'us',
    ratio: {
      value: quantile(
        rounds.map(({ recorded, plain }) => of(recorded) / of(plain)),
        0.5,
      ),
      to: 'not recorded',
    },
  });
  const plain = rounds.flatMap((round) => round.plain);
  const limit = { bar: RECORDING_BAR, bound: 'at-most' as const };
  return [
    { name: 'recall, not recorded, median', value: quantile(plain, 0.5), unit: 'us', bar: null },
    {
      name: 'recall, recorded with its tree, median',
      ...against((values) => quantile(values, 0.5)),
      ...limit,
    },
    { name: 'the same, mean', ...against(mean), bar: null },
    { name: 'the same, p99', ...against((values) => quantile(values, 0.99)), bar: null },
  ];
}
