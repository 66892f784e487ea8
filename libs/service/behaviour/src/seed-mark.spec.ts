import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noticeOfForeignSeed, openBehaviours, parseRetention } from '@tessera/behaviour';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const MINE = { modelPath: '/models/mine', cataloguePath: '/models/mine/catalogue.jsonl' };
const DEMO = { modelPath: '/models/demo', cataloguePath: '/models/demo/catalogue.jsonl' };

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder({ 'demo.json': { 1: ['a', 'b'] }, 'mine.json': { u: ['c'] } });
});
afterEach(() => folder.remove());

const at = (name: string) => join(folder.path, name);
const MARK = 'store.seed.json';

/** A process with these users, from its start to its end; gives the users that it found. */
async function serve(users: string, servedWith = DEMO): Promise<readonly string[]> {
  const usersPath = users === '' ? '' : at(users);
  const retention = parseRetention('*=10');
  const opened = await openBehaviours(
    {
      store: 'embedded',
      usersPath,
      path: at('store'),
      servedWith,
      redis: '',
      keyPrefix: '',
      retention,
    },
    () => undefined,
  );
  await opened.takeOverUsers();
  const ids = await opened.store.userIds(9);
  await opened.close();
  return ids;
}

const notice = (users: string, servedWith = MINE) =>
  noticeOfForeignSeed(at('store'), users === '' ? '' : at(users), servedWith);

describe('a store that began with the users of a file', () => {
  it('is named with both models, both catalogues and the remedy to another start', async () => {
    expect(await notice('mine.json')).toBe('');
    expect(await serve('demo.json')).toEqual(['1']);
    const line = await notice('mine.json');
    const named = [at('demo.json'), ...Object.values(DEMO), ...Object.values(MINE), at(MARK)];
    for (const name of named) expect(line).toContain(name);
    expect(line).toContain('behaviours.path (TESSERA_BEHAVIOURS_PATH)');
    expect(await notice('')).toBe(line);
    // The start that was warned changes nothing of it.
    expect(await serve('mine.json', MINE)).toEqual(['1']);
    expect(await notice('mine.json')).toBe(line);
    rmSync(at(MARK));
    expect(await notice('mine.json')).toBe('');
  });

  it('is right for its own model or catalogue, and for a start with the same users', async () => {
    await serve('demo.json');
    expect(await notice('mine.json', DEMO)).toBe('');
    expect(await notice('mine.json', { ...MINE, modelPath: DEMO.modelPath })).toBe('');
    expect(await notice('mine.json', { ...MINE, cataloguePath: DEMO.cataloguePath })).toBe('');
    writeFileSync(at('copy.json'), readFileSync(at('demo.json')));
    expect(await notice('copy.json')).toBe('');
  });

  it('is marked anew where it is emptied and begins with others', async () => {
    await serve('demo.json');
    rmSync(at('store'), { recursive: true });
    expect(await notice('mine.json')).toBe('');
    await serve('', MINE);
    expect(existsSync(at(MARK))).toBe(false);
    await serve('mine.json', MINE);
    expect(await notice('mine.json')).toBe('');
    expect(await notice('demo.json', DEMO)).not.toBe('');
  });

  it('is used without a warning where its mark is damaged', async () => {
    await serve('demo.json');
    for (const text of ['{', '{}', 'null', '{"usersPath": 1}']) {
      writeFileSync(at(MARK), text);
      expect(await notice('mine.json')).toBe('');
    }
  });
});
