import os from 'node:os';
import { type Measurement, quantile } from '../../result.js';
import { floorSeconds, stepWork } from '../engine/floor.js';
import { probeMachine } from '../engine/machine.js';
import type { SuiteContext } from '../suite.js';
import { PROMPT_TOKENS, type RankingEngine, someItems, withRanking } from './ranking-engine.js';

const RANKED = 200;
const NAMED = 1000;
const ROUNDS = { quick: 5, full: 9 };

/** Recalls that are ranked beside recalls alone and two calls; items of other channels. */
export async function timesStage(context: SuiteContext): Promise<Measurement[]> {
  const { quick, flags, say } = context;
  const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
  say('roofline probe');
  const machine = await probeMachine(quick);
  return withRanking(context, threads, async (opened) => {
    const rounds = ROUNDS[quick ? 'quick' : 'full'];
    say(`a recall of ${RANKED} items, ranked and not, ${rounds} rounds`);
    const recalls = await recallRows(opened, rounds);
    say(`${NAMED} items of other channels, ${rounds} rounds`);
    return [...recalls, ...(await namedRows(opened, rounds, machine.peaks('bf16')))];
  });
}

const median = (values: readonly number[]) => quantile(values, 0.5);

async function timed<T>(act: () => Promise<T>): Promise<readonly [ms: number, answer: T]> {
  const started = performance.now();
  const answer = await act();
  return [performance.now() - started, answer];
}

/** In turns, on a prompt that no pool has. The first round warms up. */
async function recallRows(
  { engine, ranking }: RankingEngine,
  rounds: number,
): Promise<Measurement[]> {
  const times = { plain: [] as number[], ranked: [] as number[], click: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const tokens = engine.prompt(PROMPT_TOKENS, 10 + round);
    const ask = { tokens, width: RANKED };
    const [plain, found] = await timed(() => engine.recall(ask));
    const [ranked] = await timed(() => engine.recall({ ...ask, ranking }));
    const items = Uint32Array.from(found.items, ({ ordinal }) => ordinal);
    const [click] = await timed(() => engine.rank({ tokens }, items, ranking));
    if (round === 0) continue;
    times.plain.push(plain);
    times.ranked.push(ranked);
    times.click.push(click);
  }
  const [plain, ranked, click] = [times.plain, times.ranked, times.click].map(median) as [
    number,
    number,
    number,
  ];
  const name = `recall of ${RANKED} items, prompt ${PROMPT_TOKENS}`;
  const added = ranked - plain;
  return [
    { name: `${name}: alone`, value: plain, unit: 'ms', bar: null },
    {
      name: `${name}: ranked`,
      value: ranked,
      unit: 'ms',
      ratio: { value: ranked / plain, to: 'recall alone' },
      bar: 1.25,
      bound: 'at-most',
    },
    {
      name: `${name}: then a call that reads the prompt again`,
      value: plain + click,
      unit: 'ms',
      ratio: { value: (plain + click) / ranked, to: 'ranked in one call' },
      bar: null,
    },
    {
      name: `${name}: that call alone`,
      value: click,
      unit: 'ms',
      ratio: { value: click / added, to: 'what ranking adds in one call' },
      bar: 3,
      bound: 'at-least',
    },
  ];
}

/** On a prompt of the pool. */
async function namedRows(
  { engine, ranking }: RankingEngine,
  rounds: number,
  peaks: Parameters<typeof floorSeconds>[1],
): Promise<Measurement[]> {
  const times: number[] = [];
  let rows = 0;
  for (let round = 0; round <= rounds; round += 1) {
    const tokens = engine.prompt(PROMPT_TOKENS, 100 + round);
    const kv = { userId: `user ${round}`, prefixTokens: 0, keepTokens: tokens.length };
    await engine.append(tokens, kv);
    const before = engine.stats().decodeTokens;
    const [ms] = await timed(() => engine.rank({ tokens, kv }, someItems(NAMED, round), ranking));
    if (round === 0) continue;
    times.push(ms);
    rows = engine.stats().decodeTokens - before;
  }
  const at = { users: 1, width: rows, promptTokens: PROMPT_TOKENS };
  const floor = 1000 * floorSeconds(stepWork(engine.shape, at, engine.format), peaks);
  const value = median(times);
  const name = `${NAMED} items of 4 tokens, prompt ${PROMPT_TOKENS} of the pool`;
  return [
    { name: `${name}: rows`, value: rows, unit: 'rows', bar: null },
    {
      name: `${name}: ranked`,
      value,
      unit: 'ms',
      ratio: { value: value / floor, to: 'floor of its products' },
      bar: 1.5,
      bound: 'at-most',
    },
  ];
}
