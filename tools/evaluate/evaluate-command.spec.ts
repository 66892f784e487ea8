import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createRecallRuntime } from '@tessera/recall';
import { temporaryFolder } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import { Flags } from '../terminal/command.js';
import { MODEL_FLAGS, runtimeOptions } from '../terminal/model-flags.js';

const USERS = 12;
const BEAM = 20;
const DEPTH = 10;
const run = promisify(execFile);

interface StoredUser {
  readonly behaviours: readonly { readonly item_id: string; readonly time: number }[];
}

/** Sequences of the first demo users, the last item being what is held out. */
function sequences(): [string, string[]][] {
  const users = JSON.parse(readFileSync('models/demo/users.json', 'utf8')) as object;
  return Object.entries(users as Record<string, StoredUser>)
    .slice(0, USERS)
    .map(([userId, { behaviours }]) => {
      const sorted = [...behaviours].sort((a, b) => a.time - b.time);
      return [userId, sorted.map((behaviour) => behaviour.item_id)];
    });
}

/** Recall@10 asked of the runtime itself, one user after the other. */
async function hitShare(cases: readonly [string, string[]][]): Promise<number> {
  const flags = Flags.parse(['--threads', '1', '--dtype', 'f32'], MODEL_FLAGS);
  const runtime = await createRecallRuntime(runtimeOptions(flags, () => undefined));
  let hits = 0;
  for (const [, items] of cases) {
    const { signal } = new AbortController();
    const answer = await runtime.serving.recall(
      {
        requestId: '',
        history: items.slice(0, -1),
        profile: {},
        scene: {},
        resultCount: DEPTH,
        widths: [BEAM],
        itemsPerSid: DEPTH,
        skipUnknownItems: true,
      },
      { signal, budgetUs: 60e6 },
    );
    if (answer.items.some((item) => item.itemId === items.at(-1))) hits += 1;
  }
  await runtime.close();
  return hits / cases.length;
}

describe('npm run evaluate', () => {
  it('gives over gRPC the share of hits that the runtime itself gives', async () => {
    const cases = sequences();
    const rows = cases.map(([user, items]) => ({ user, history: ['gone', ...items] }));
    const lost = { user: 'lost', history: cases[0]?.[1], target: 'gone' };
    const lines = [...rows, lost].map((row) => `${JSON.stringify(row)}\n`).join('');
    const folder = temporaryFolder({ 'sequences.jsonl': lines });
    const jsonPath = join(folder.path, 'result.json');
    const words = ['--sequences', join(folder.path, 'sequences.jsonl'), '--json', jsonPath];
    const { stdout } = await run('node', [
      'dist/tools/evaluate.js',
      ...words,
      ...['--beam', String(BEAM), '--threads', '1', '--dtype', 'f32', '--concurrency', '4'],
    ]);
    const result = JSON.parse(readFileSync(jsonPath, 'utf8'));
    folder.remove();
    const expected = ((await hitShare(cases)) * USERS) / (USERS + 1);
    expect(result).toMatchObject({
      users: USERS + 1,
      failedUsers: 0,
      skippedUsers: 0,
      unknownTargets: 1,
      skippedHistoryItems: USERS,
    });
    expect(result.recall[DEPTH]).toBeCloseTo(expected, 12);
    expect(expected).toBeGreaterThan(0);
    expect(result.ndcg[DEPTH]).toBeLessThanOrEqual(expected);
    expect(stdout).toContain(`Recall@${DEPTH}  ${expected.toFixed(4)}`);
  });

  it('has rows of other systems beside its own, without what users have seen', async () => {
    const cases = sequences();
    const lists = cases.flatMap(([user, items]) => [
      { system: 'oracle', user, items: ['gone', ...new Set([...items].reverse())] },
      { system: 'repeat', user, items: [...new Set(items.slice(0, -1))] },
    ]);
    const folder = temporaryFolder({
      'sequences.json': Object.fromEntries(cases),
      'lists.jsonl': lists.map((row) => `${JSON.stringify(row)}\n`).join(''),
      'bad.jsonl': '{"system":"S","user":"a","items":[1.5]}',
    });
    const words = (name: string) => [
      ...['dist/tools/evaluate.js', '--sequences', join(folder.path, 'sequences.json')],
      ...['--lists', join(folder.path, name), '--json', join(folder.path, 'result.json')],
      ...['--unseen', '--beam', String(BEAM), '--threads', '1', '--dtype', 'f32'],
    ];
    const { stdout } = await run('node', words('lists.jsonl'));
    const result = JSON.parse(readFileSync(join(folder.path, 'result.json'), 'utf8'));
    const isNew = cases.filter(([, items]) => !items.slice(0, -1).includes(items.at(-1) ?? ''));
    expect(result.systems).toMatchObject([
      { system: 'oracle', recall: { 5: isNew.length / USERS }, unknownItems: USERS },
      { system: 'repeat', recall: { 10: 0 }, usersWithout: 0, coverage: 0 },
    ]);
    expect(stdout).toMatch(/^ours, beam +\d\.\d{4} \(/m);
    await expect(run('node', words('bad.jsonl'))).rejects.toThrow(
      'lines[1].items[0]): bad.jsonl: lines[1].items[0]: expected a string or an integer, got 1.5',
    );
    folder.remove();
  });

  it('shows what a beam has missed of the certified lists, beside rows and quality', async () => {
    const folder = temporaryFolder({ 'sequences.json': Object.fromEntries(sequences()) });
    const jsonPath = join(folder.path, 'result.json');
    const { stdout } = await run('node', [
      ...['dist/tools/evaluate.js', '--sequences', join(folder.path, 'sequences.json')],
      ...['--search', 'both', '--beam', String(BEAM), '--json', jsonPath],
      ...['--threads', '1', '--dtype', 'f32', '--concurrency', '4'],
    ]);
    const result = JSON.parse(readFileSync(jsonPath, 'utf8'));
    folder.remove();
    expect(result.searches).toMatchObject([
      { search: 'beam' },
      { search: 'certified', certifiedShare: 1 },
    ]);
    expect(result.found[10]).toBeGreaterThan(0);
    expect(result.found[10]).toBeLessThanOrEqual(1);
    expect(result.searches[1].rowsMean).toBeGreaterThan(0);
    expect(stdout).toMatch(/of the certified lists the beam found .* % of the first 10/);
  });
});
