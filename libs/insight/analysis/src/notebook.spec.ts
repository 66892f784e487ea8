/** The notebook of deploy/analytics, run over files of facts. */

import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AnalysisFilter } from './domain/filter.js';
import { writeFacts } from './fixture/fact-files.js';
import { FiguresByHand } from './fixture/figures-by-hand.js';
import { generatedFacts } from './fixture/generated-facts.js';

const ROOT = join(import.meta.dirname, '../../../..');
const PYTHON = join(ROOT, '.cache/notebook/bin/python');
const SEED = 48;
const facts = generatedFacts(SEED);
const hand = new FiguresByHand(facts);
const folder = temporaryFolder({});
const hasPython = spawnSync(PYTHON, ['-c', 'import duckdb, pandas']).status === 0;
const EVERY: AnalysisFilter = {
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  catalogue: '',
  source: 'all',
  scenes: [],
  attributes: [],
};

if (!hasPython) console.log('notebook.spec: skipped; npm run pretest:notebook installs its Python');

beforeAll(() => writeFacts(facts, folder.path), 60_000);
afterAll(() => folder.remove());

it.skipIf(!hasPython)('the notebook shows what the facts have', { timeout: 120_000 }, () => {
  const program = join(import.meta.dirname, 'fixture/run_notebook.py');
  const notebook = join(ROOT, 'deploy/analytics/notebook.ipynb');
  const env = { ...process.env, FACTS: folder.path };
  const lines = execFileSync(PYTHON, [program, notebook], { encoding: 'utf8', env });
  const [kept, composition, outcomes] = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string | number>[]);
  expect(kept?.[0]?.recalls, `seed ${SEED}`).toBe(facts.recalls.length);
  const items = new Map<string, number>();
  for (const { category, items: count } of composition ?? []) {
    items.set(String(category), (items.get(String(category)) ?? 0) + Number(count));
  }
  expect(Object.fromEntries([...items].sort())).toEqual(
    Object.fromEntries([...hand.values(EVERY, 'category')].sort()),
  );
  const counts: Record<string, number> = {};
  for (const { requestId, itemId, timeMs, action } of facts.behaviours) {
    if (requestId === '') continue;
    for (const recall of facts.recalls) {
      const isNamed = recall.requestId === requestId && recall.itemIds.includes(itemId);
      if (!isNamed || recall.timeMs > timeMs) continue;
      const key = `${recall.adapter} ${action}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
  }
  const found = (outcomes ?? []).map((row) => [`${row.adapter} ${row.action}`, row.behaviours]);
  expect(Object.fromEntries(found)).toEqual(counts);
});
