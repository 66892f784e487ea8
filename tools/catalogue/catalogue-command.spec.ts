import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@tessera/testing';
import { expect, it } from 'vitest';

const NOBODY = '127.0.0.1:1';
const run = promisify(execFile);

async function refusal(...words: string[]): Promise<{ code: number; stderr: string }> {
  const all = ['dist/tools/catalogue.js', ...words, '--address', NOBODY];
  return run(process.execPath, all).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );
}

it('checks an item before anything is sent, and shows what a terminal would obey', async () => {
  const item = '{"item_id":"a","sid":["<a_3>","<b_1>"],"title":"x"}';
  expect(await refusal('upsert', item)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^CATALOGUE_INVALID \(lines\[1\]\.sid\): line 1: sid: expected a list of 1 to 32 codes/,
    ),
  });
  const { stderr } = await refusal('upsert', '{"item_id":"a","sid":[1],"\u009b2J":1}');
  expect(stderr).toContain('\\u009b2J');
});

it('checks edits and predicates before anything is sent', async () => {
  const patch = '{"delta":{"bid":"1"}}';
  const bad: [string[], RegExp][] = [
    [['patch', 'a', patch], /\(lines\[1\]\.delta\.bid\): .* a finite number, got "1"/],
    [
      ['pause', '--predicate', '{"any":[{"attribute":"a","is":1}]}'],
      /predicate\.any\[0\]\.is: expected/,
    ],
  ];
  for (const [words, message] of bad) expect((await refusal(...words)).stderr).toMatch(message);
});

it('names file and line, and sends nothing of a batch with a bad line', async () => {
  const lines = '{"item_id":"a","sid":[1]}\n\n{"item_id":"b","sid":[4294967296]}\n';
  const folder = temporaryFolder({ 'changes.jsonl': lines });
  const file = join(folder.path, 'changes.jsonl');
  for (const flags of [[], ['--whole']]) {
    const { code, stderr } = await refusal('apply', file, ...flags);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^CATALOGUE_INVALID \(lines\[3\]\.sid\): .*line 3: sid: expected/);
  }
  folder.remove();
});
