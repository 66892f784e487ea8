import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import { type CaseSource, readCases } from './cases.js';

async function read(change: Partial<CaseSource>, targets?: unknown) {
  const folder = temporaryFolder({
    'sequences.json': { a: [1, 2, 3], b: ['x'], c: [4, 5] },
    ...(targets === undefined ? {} : { 'targets.json': targets }),
  });
  try {
    return await readCases({
      sequencesPath: join(folder.path, 'sequences.json'),
      targetsPath: targets === undefined ? undefined : join(folder.path, 'targets.json'),
      itemsMax: 100,
      usersMax: undefined,
      ...change,
    });
  } finally {
    folder.remove();
  }
}

describe('the cases of an evaluation', () => {
  it('hold out the last item of each sequence where there are no targets', async () => {
    expect(await read({})).toEqual({
      cases: [
        { userId: 'a', history: ['1', '2'], target: '3' },
        { userId: 'c', history: ['4'], target: '5' },
      ],
      skipped: 1,
      repeatedLines: 0,
    });
  });

  it('ask for the given targets with the whole history', async () => {
    const { cases, skipped } = await read({ itemsMax: 2 }, { a: 9, b: '8' });
    expect(cases).toEqual([
      { userId: 'a', history: ['2', '3'], target: '9' },
      { userId: 'b', history: ['x'], target: '8' },
    ]);
    expect(skipped).toBe(1);
  });

  it('are read from JSON lines, the longest of a user', async () => {
    const rows = [
      { user: 'a', history: [1, 2], target: 3 },
      { user: 'a', history: [1, 2, 3], target: 4 },
      { user: 7, history: ['x', 'y'] },
      { user: 'a', history: [1] },
    ];
    const folder = temporaryFolder({
      'rows.jsonl': rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
      'bad.jsonl': '{"user":"a","history":[1]}\n{"user":"b","history":[null]}\n',
      'twice.json': '{"a": [1, {"a": "a:"}], "b": ["\\"a\\":"], "a": [2, 3]}',
    });
    const of = (name: string) => read({ sequencesPath: join(folder.path, name) });
    expect(await of('rows.jsonl')).toEqual({
      cases: [
        { userId: 'a', history: ['1', '2', '3'], target: '4' },
        { userId: '7', history: ['x'], target: 'y' },
      ],
      skipped: 0,
      repeatedLines: 2,
    });
    await expect(of('bad.jsonl')).rejects.toThrow(
      'lines[2].history[0]: expected a string or an integer, got null',
    );
    await expect(of('twice.json')).rejects.toThrow("expected JSON: 'a' twice");
    folder.remove();
  });

  it('stop at the wanted number of users', async () => {
    expect((await read({ usersMax: 1 })).cases.map((entry) => entry.userId)).toEqual(['a']);
  });

  it.each([
    [[], 'an object of {"user": item}'],
    [{ a: null }, "an item ID for user 'a', got null"],
    ['{', 'a JSON file'],
    [{}, 'a user with a history and a target, got none'],
  ])('refuse the targets %j', async (targets, message) => {
    await expect(read({}, targets)).rejects.toThrow(message);
  });
});
