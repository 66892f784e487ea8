import { readFileSync, writeFileSync } from 'node:fs';
import { FILE_SYSTEM } from '@tessera/files';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, expect, it } from 'vitest';
import { QUESTIONS_MAX, QuestionFile } from './questions.js';

const folder = temporaryFolder({});
const path = `${folder.path}/questions.json`;
const question = (name: string, author = 'ann') => ({ name, author, timeMs: 1, sql: `-- ${name}` });
const any = () => undefined;

afterAll(() => folder.remove());

it('keeps what is saved at the same time, over a restart, by name', async () => {
  const file = new QuestionFile(path, FILE_SYSTEM);
  expect(await file.list()).toEqual([]);
  await Promise.all(['c', 'a', 'b'].map((name) => file.save(question(name), any)));
  const again = new QuestionFile(path, FILE_SYSTEM);
  expect((await again.list()).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  await again.save({ ...question('b'), sql: 'SELECT 2' }, any);
  expect((await again.list())[1]?.sql).toBe('SELECT 2');
  expect(await again.remove('b', any)).toBe(true);
  expect(await again.remove('b', any)).toBe(false);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toHaveLength(2);
});

it('replaces and removes nothing that is refused', async () => {
  const file = new QuestionFile(path, FILE_SYSTEM);
  const refuse = () => {
    throw new Error('not yours');
  };
  const before = await file.list();
  await expect(file.save(question('a', 'bob'), refuse)).rejects.toThrow('not yours');
  await expect(file.remove('a', refuse)).rejects.toThrow('not yours');
  expect(await file.list()).toEqual(before);
});

it('has a limit, and says so of a damaged file and of none', async () => {
  const many = Array.from({ length: QUESTIONS_MAX }, (_, n) => question(`q${n}`));
  writeFileSync(path, JSON.stringify(many));
  const file = new QuestionFile(path, FILE_SYSTEM);
  await expect(file.save(question('one more'), any)).rejects.toThrow('at most');
  await file.save(question('q7'), any);
  writeFileSync(path, '[{');
  await expect(file.list()).rejects.toMatchObject({ code: 'IO_FAILED' });
  const none = new QuestionFile('', FILE_SYSTEM);
  expect(await none.list()).toEqual([]);
  await expect(none.save(question('a'), any)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});
