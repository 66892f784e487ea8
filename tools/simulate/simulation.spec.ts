import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { describe, expect, it } from 'vitest';
import type { Arrival, Workload } from './arrival.js';
import { BlockPool } from './block-pool.js';
import { drawnUsers } from './drawn-users.js';
import { ADMISSIONS, type SimulationOptions } from './options.js';
import type { Outcome } from './outcome.js';
import { POLICIES } from './policies.js';
import { Simulation } from './simulation.js';
import { parseTrace, readTrace, spedUp } from './trace.js';

const TRACE = join(repositoryRoot, '..', 'shared/data/traces/mooncake/conversation_trace.jsonl');

const COSTS = {
  tokenUs: 100,
  pairUs: 0,
  passUs: 0,
  rows: 1,
  rowUs: 1000,
  rowPairUs: 0,
  kvBytesPerToken: 10,
};

const OPTIONS: SimulationOptions = {
  nodes: 2,
  answerNodes: 0,
  costs: COSTS,
  sizes: {
    memoryBytes: 1e9,
    diskBytes: 0,
    diskBytesPerUs: 0,
    sharedBytes: 0,
    sharedBytesPerUs: 0,
    linkBytesPerUs: 0,
    writeBytesPerUs: 0,
  },
  policy: 'router',
  admission: 'none',
  firstLimitUs: 1e9,
  answersMax: 4,
  splitTokens: 0,
  deaths: [],
  seed: 1,
  warmUpUs: 0,
  planned: new Set(),
};

const simulate = (workload: Workload, changed: Partial<SimulationOptions> = {}): Outcome =>
  new Simulation(workload, Object.assign({ ...OPTIONS }, changed)).run();

const recall = (atUs: number, user: string, blocks: readonly number[]): Arrival => ({
  atUs,
  kind: 'recall',
  user,
  promptTokens: blocks.length * 10 + 5,
  steps: 3,
  blocks,
});

const workload = (arrivals: readonly Arrival[]): Workload => ({
  name: 'by hand',
  blockTokens: 10,
  arrivals,
});

const users = (seed: number, flood = 1): Workload =>
  drawnUsers({
    users: 200,
    zipf: 1.1,
    recallsPerSecond: 60,
    appendsPerSecond: 60,
    flood,
    seconds: 40,
    historyTokens: 200,
    appendTokens: 16,
    sceneTokens: 8,
    steps: 4,
    blockTokens: 32,
    seed,
  });

const refusals = ({ refused }: Outcome) => Object.values(refused).reduce((a, b) => a + b);

describe('a simulated fleet', () => {
  it('takes the times of two nodes that are computed by hand', () => {
    // 25 tokens of 100 us, then three steps of 1 ms; the second recall of a user finds two blocks.
    const { firstStep, answer, tokens } = simulate(
      workload([recall(0, 'a', [1, 2]), recall(50_000, 'a', [1, 2]), recall(100_000, 'a', [3])]),
    );
    expect(firstStep.meanMs).toBeCloseTo((2.5 + 0.5 + 1.5) / 3, 6);
    expect(answer.meanMs).toBeCloseTo((5.5 + 3.5 + 4.5) / 3, 6);
    expect(tokens).toEqual({ memory: 20, disk: 0, shared: 0, computed: 25 + 5 + 15 });
  });

  it('reads from the store on another node no more than was written there', () => {
    const { sizes } = OPTIONS;
    const store = Object.assign({ ...sizes }, { sharedBytes: 1e9, sharedBytesPerUs: 1 });
    const arrivals = [recall(0, 'a', [1, 2]), recall(50_000, 'a', [1, 2])];
    const outcome = simulate(workload(arrivals), { sizes: store, policy: 'round-robin' });
    // Two blocks of 100 bytes: 200 us to the store, and 200 us of it instead of 2,000 of computing.
    expect(outcome.storeWrittenBytes).toBe(200);
    expect(outcome.storeReadBytes).toBe(200);
    expect(outcome.tokens.shared).toBe(20);
    expect(outcome.firstStep.meanMs).toBeCloseTo((2.5 + 0.2 + 0.5) / 2, 6);
  });

  it('computes again where the owner has died, and answers every request once', () => {
    const arrivals = [recall(0, 'a', [1, 2]), recall(50_000, 'a', [1, 2])];
    const deaths = [0, 1].map((node) => [{ node, atUs: 1000 }]);
    const outcomes = deaths.map((some) => simulate(workload(arrivals), { deaths: some }));
    expect(outcomes.map(({ repeated }) => repeated).sort()).toEqual([0, 1]);
    for (const { answered, tokens } of outcomes) {
      expect(answered).toBe(2);
      expect(tokens.memory).toBe(20);
    }
  });

  it('gives one outcome to one seed, and another to another', () => {
    for (const policy of POLICIES) {
      const one = simulate(users(7), { policy, nodes: 3 });
      expect(simulate(users(7), { policy, nodes: 3 })).toEqual(one);
      expect(simulate(users(8), { policy, nodes: 3 })).not.toEqual(one);
    }
  });

  it('loses no request: each is answered, kept or refused', () => {
    for (const admission of ADMISSIONS) {
      for (const answerNodes of [0, 2]) {
        const deaths = [{ node: 1, atUs: 20e6 }];
        const sizes = Object.assign({ ...OPTIONS.sizes }, { sharedBytes: 1e9, memoryBytes: 1e5 });
        const changed = { admission, answerNodes, deaths, sizes, answersMax: 1 };
        const outcome = simulate(users(3, 4), Object.assign({ firstLimitUs: 50_000 }, changed));
        const ended = outcome.answered + outcome.appended + refusals(outcome);
        expect(ended, `${admission}, ${answerNodes} answer nodes`).toBe(outcome.arrived);
        if (admission === 'none') expect(refusals(outcome)).toBe(0);
      }
    }
  });

  it('reads nothing from a store that nobody has written to', () => {
    const outcome = simulate(users(5));
    expect([outcome.storeReadBytes, outcome.storeWrittenBytes]).toEqual([0, 0]);
  });
});

describe('a pool of blocks', () => {
  it('keeps a prefix of every chain', () => {
    const pool = new BlockPool(5);
    pool.touch([1, 2, 3]);
    pool.touch([1, 4, 5, 6]);
    expect([1, 2, 3, 4, 5, 6].map((block) => pool.has(block))).toEqual([
      true,
      true,
      false,
      true,
      true,
      true,
    ]);
    expect(pool.evicted).toBe(1);
  });
});

const LINE = '{"timestamp": 5, "input_length": 600, "output_length": 2, "hash_ids": [1, 2]}';

describe('a trace', () => {
  it('is known by its first line', () => {
    const [first] = parseTrace(LINE, 'a').arrivals;
    expect(first).toMatchObject({ atUs: 0, promptTokens: 600, steps: 2, blocks: [1] });
    const azure = 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,600,4\n';
    expect(parseTrace(azure, 'b').arrivals).toHaveLength(1);
    expect(
      spedUp(parseTrace(`${LINE}\n${LINE.replace('5', '25')}`, 'c'), 2).arrivals[1]?.atUs,
    ).toBe(10_000);
  });

  it.each([
    ['', 'line 1: expected a request, got an empty file'],
    ['a,b', 'line 1: expected a JSON object, or TIMESTAMP,ContextTokens,GeneratedTokens, got a,b'],
    [`${LINE}\n{`, 'line 2: expected a JSON object, got {'],
    [LINE.replace('600', '-1'), 'line 1: input_length: expected an integer in 1..16777216, got -1'],
    [LINE.replace('[1, 2]', '[1]'), 'line 1: hash_ids: expected 2 for 600 tokens, got 1'],
    [LINE.replace('[1, 2]', '[1, "x"]'), 'line 1: hash_ids[1]: expected an integer in 0..'],
    [`${LINE}\n${LINE.replace('5', '4')}`, 'line 2: timestamp: expected at least 5 ms, got 4'],
    ['TIMESTAMP,ContextTokens,GeneratedTokens', 'line 2: expected a request, got nothing'],
    ['TIMESTAMP,ContextTokens,GeneratedTokens\nnow,1,2', 'line 2: TIMESTAMP: expected YYYY-MM-DD'],
    ['TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,x,2', 'ContextTokens'],
  ])('that is wrong is refused with its line: %j', (text, message) => {
    expect(() => parseTrace(text, 'x')).toThrow(message);
  });

  it.skipIf(!existsSync(TRACE))('of 12,031 conversations is read whole', async () => {
    const { arrivals } = await readTrace(TRACE);
    expect(arrivals).toHaveLength(12_031);
  });
});
