import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CatalogueChange } from '@tessera/catalogue';
import { TesseraError } from '@tessera/errors';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyFile } from './apply-file.js';

const LINES = 25;
const BATCH = 4;
const lineOf = (i: number) => JSON.stringify({ item_id: `n${i}`, text: `cream ${i}` });
/** An empty line in the midst. */
const content = Array.from({ length: LINES }, (_, i) => (i === 9 ? '\n' : `${lineOf(i)}\n`));
const all = Array.from({ length: LINES }, (_, i) => `n${i}`).filter((id) => id !== 'n9');

let folder = temporaryFolder({});
beforeEach(() => {
  folder = temporaryFolder({ 'ads.jsonl': content.join('') });
});
afterEach(() => folder.remove());

/** A service that fails from a number of batches on. */
function served(batchesMax = Number.POSITIVE_INFINITY) {
  const batches: string[][] = [];
  const send = (changes: readonly CatalogueChange[]) => {
    if (batches.length === batchesMax) return Promise.reject(new Error('gone'));
    batches.push(changes.map(({ itemId }) => itemId));
    return Promise.resolve({ sequence: batches.length });
  };
  return { batches, send };
}

const reported: string[] = [];
type Mark = { readonly name: string; readonly position: number };
type Send = (changes: readonly CatalogueChange[], mark?: Mark) => Promise<{ sequence: number }>;
function run(send: Send, resume = false, tolerated = 0, batch = BATCH) {
  let nowMs = 0;
  reported.length = 0;
  return applyFile(send, join(folder.path, 'ads.jsonl'), {
    batch,
    tolerated,
    onBadLine: (line, message) => reported.push(`${line} ${message}`),
    resumePath: resume ? resumePath() : undefined,
    onProgress: (stage, done, total, note) => reported.push(`${stage} ${done}/${total} ${note}`),
    nowMs: () => (nowMs += 100),
  });
}
const resumePath = () => join(folder.path, 'ads.applied');

describe('a file of changes', () => {
  it('is applied in batches in its order, with progress and rate', async () => {
    const { batches, send } = served();
    const applied = await run(send);
    expect(batches.flat()).toEqual(all);
    expect(batches.map(({ length }) => length)).toEqual([4, 4, 4, 4, 4, 4]);
    expect(applied).toMatchObject({ applied: 24, resumed: 0, badLines: 0, sequence: 6 });
    expect(reported[0]).toBe('lines applied 4/25 40 changes a second');
    expect(reported.at(-1)).toMatch(/^lines applied 25\/25 /);
  });

  it('is applied without lines that the service refuses, as many as are tolerated', async () => {
    const bad = ['n2', 'n3', 'n20'];
    const { batches, send } = served();
    const strict = (changes: readonly CatalogueChange[]) => {
      const place = changes.findIndex(({ itemId }) => bad.includes(itemId));
      if (place < 0) return send(changes);
      const field = `changes[${place}].text`;
      const code = changes[place]?.itemId === 'n3' ? 'ITEM_NOT_FOUND' : 'CATALOGUE_INVALID';
      return Promise.reject(new TesseraError(code, `${field}: bad`, { field }));
    };
    const applied = await run(strict, false, 3);
    expect(applied).toMatchObject({ applied: 21, badLines: 3 });
    expect(batches.flat()).toEqual(all.filter((id) => !bad.includes(id)));
    expect(reported.filter((line) => line.includes('bad'))).toEqual([
      '3 changes[2].text: bad',
      '4 changes[2].text: bad',
      '21 changes[3].text: bad',
    ]);
    await expect(run(strict, false, 2)).rejects.toThrow(/from line 21: changes\[3\].text: bad/);
    const gone = () => Promise.reject(new TesseraError('STORE_FULL', 'changes[0]: full'));
    await expect(run(gone, false, 9)).rejects.toMatchObject({ code: 'STORE_FULL' });
  });

  it('is gone on with behind the last batch that was applied', async () => {
    const [first, second] = [served(3), served()];
    await expect(run(first.send, true)).rejects.toThrow(
      /from line 14: gone \(12 changes before were applied\)/,
    );
    const applied = await run(second.send, true);
    expect(applied).toMatchObject({ applied: 12, resumed: 13 });
    expect([...first.batches, ...second.batches].flat()).toEqual(all);
    expect(existsSync(resumePath())).toBe(false);
  });

  it('counts a batch once whose answer came as the run was killed', async () => {
    const known = new Map<string, number>();
    const counted: string[] = [];
    // A service as docs/concepts/live-catalogue.md has it; its answer to batch 3 comes too late.
    const send = (killed: boolean) => (changes: readonly CatalogueChange[], mark?: Mark) => {
      const { name, position } = mark as Mark;
      if (position > (known.get(name) ?? 0)) counted.push(...changes.map(({ itemId }) => itemId));
      known.set(name, Math.max(position, known.get(name) ?? 0));
      const isLate = killed && counted.length === 3 * BATCH;
      return isLate ? Promise.reject(new Error('killed')) : Promise.resolve({ sequence: 1 });
    };
    await expect(run(send(true), true)).rejects.toThrow('killed');
    await run(send(false), true, 0, BATCH + 3);
    expect(counted).toEqual(all);
    expect(known.size).toBe(1);
    // Another import of the same file is one of its own.
    await run(send(false), true);
    expect(counted).toEqual([...all, ...all]);
  });

  it('is not gone on with where its lines have become others', async () => {
    await expect(run(served(3).send, true)).rejects.toThrow('gone');
    const other = content.with(2, content[3] as string).join('');
    writeFileSync(join(folder.path, 'ads.jsonl'), other);
    const { batches, send } = served();
    await expect(run(send, true)).rejects.toThrow('the 13 lines that were applied before');
    expect(batches).toEqual([]);
    writeFileSync(resumePath(), '[]');
    await expect(run(send, true)).rejects.toThrow('what `catalogue apply --resume` wrote');
  });

  it('that has become shorter than what was applied of it is refused', async () => {
    await expect(run(served(3).send, true)).rejects.toThrow('gone');
    writeFileSync(join(folder.path, 'ads.jsonl'), content.slice(0, 5).join(''));
    const { send } = served();
    await expect(run(send, true)).rejects.toThrow('the 13 lines that were applied before');
  });
});
