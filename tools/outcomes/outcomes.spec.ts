import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type AnalysisStore, DUCKDB, type Row } from '@tessera/analysis';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOutcomes } from './describe-outcomes.js';
import { readTargets } from './read-targets.js';

const folder = temporaryFolder({});
let store: AnalysisStore;
let close: () => void;

beforeAll(async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = async (statements: readonly string[]) => {
    const read = statements.map((sql) => connection.runAndReadAll(sql));
    return (await Promise.all(read)).map((one) => one.getRowObjectsJson() as unknown as Row[]);
  };
  store = { dialect: DUCKDB, rows, hours: async () => ({ rolled: '', open: '' }) };
  close = () => instance.closeSync();
});

afterAll(() => {
  close();
  folder.remove();
});

function written(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
}

it('reads targets from any form of table', async () => {
  const wanted = new Map([
    [
      'r1',
      new Map([
        ['1', 1],
        ['b', 0.25],
      ]),
    ],
    ['r2', new Map([['1', 0]])],
  ]);
  const csv = written("it's.csv", 'recall_id,item_id,propensity\nr1,1,1\nr1,b,0.25\nr2,1,0\n');
  expect(await readTargets(store, csv)).toEqual(wanted);
  const lines = [...wanted].flatMap(([recall_id, shares]) =>
    [...shares].map(([item_id, propensity]) => JSON.stringify({ recall_id, item_id, propensity })),
  );
  expect(await readTargets(store, written('t.jsonl', lines.join('\n')))).toEqual(wanted);
});

it.each([
  ['other columns', 'recall_id,item\nr1,1\n', /--target: expected columns recall_id/],
  ['no probability', 'recall_id,item_id,propensity\nr1,1,1.5\n', /0\.\.1 for r1 1, got 1\.5/],
  ['an item twice', 'recall_id,item_id,propensity\nr1,1,1\nr1,1,1\n', /one row for r1 1, got two/],
])('refuses targets with %s', async (name, text, told) => {
  await expect(readTargets(store, written(`${name}.csv`, text))).rejects.toThrow(told);
});

it('tells estimates, what they stand on, and what was left out', () => {
  const one = { value: 0.5, low: 0.25, high: 0.75 };
  const estimates = { served: one, weighted: one, normalised: one, doublyRobust: one, gain: one };
  const page = {
    reward: 'click',
    oneIn: 1,
    explored: 90,
    left: { plain: 7, unasked: 10 },
    recalls: 80,
    users: 70,
    rewards: 33,
    targetItems: 5,
    effectiveUsers: 55.04,
    effectiveUsersMin: 50,
    balance: 0.98,
    estimates,
  };
  const told = describeOutcomes(page);
  expect(told).toMatch(/doubly robust +0\.5000 +0\.2500 +0\.7500/);
  expect(told).toContain(
    '80 of 90 recalls that explored, of 70 users; 33 clicks\neffective users 55.0',
  );
  expect(told).toContain('left out: 7 plain, 10 unasked');
  expect(describeOutcomes({ ...page, estimates: null })).not.toContain('robust');
});
