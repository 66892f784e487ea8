import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CatalogueOptions, parseSource, prepareCatalogue } from '@tessera/catalogue';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { SNAPSHOTS_MAX } from './outside/snapshot-cache.js';

const LINES = ['a', 'b', 'c'].map((id, code) => JSON.stringify({ item_id: id, sid: [code, 1] }));
const DAMAGES = 150;
let folder = temporaryFolder({});
afterEach(() => folder.remove());

function setUp(files: Record<string, unknown>) {
  folder = temporaryFolder(files);
  const stages: string[] = [];
  const options = (paths: readonly string[], titles = '', reserveBytes = 0): CatalogueOptions => ({
    reserveBytes,
    sources: paths.map((path) => parseSource(join(folder.path, path))),
    titlesPath: titles === '' ? '' : join(folder.path, titles),
    cacheDir: join(folder.path, 'cache'),
    onProgress: (stage) => stages.push(stage),
  });
  const open = async (...args: Parameters<typeof options>) => {
    const { catalogue, bundleUuid } = await prepareCatalogue(options(...args));
    const { itemCount, digest } = catalogue.summary;
    const items = catalogue.view().items(Uint32Array.from({ length: itemCount }, (_, i) => i));
    catalogue.close();
    return { itemCount, digest, items, bundleUuid };
  };
  const cached = () => readdirSync(join(folder.path, 'cache'));
  return { open, cached, stages };
}

describe('a source of the catalogue', () => {
  it('is built once for the same contents, and again for others', async () => {
    const { open, cached, stages } = setUp({
      'one.jsonl': LINES.join('\n'),
      'same.jsonl': LINES.join('\n'),
      'less.jsonl': LINES.slice(1).join('\n'),
    });
    const one = await open(['one.jsonl']);
    expect(one.itemCount).toBe(3);
    expect(cached()).toHaveLength(1);
    const before = stages.length;
    expect((await open(['same.jsonl'])).digest).toBe(one.digest);
    expect(stages).toHaveLength(before);
    expect((await open(['less.jsonl'])).itemCount).toBe(2);
    expect(cached()).toHaveLength(2);
  });

  it('is opened as it is where it is a snapshot', async () => {
    const { open, cached } = setUp({ 'one.jsonl': LINES.join('\n') });
    const built = await open(['one.jsonl']);
    const again = await open([join('cache', cached()[0] as string)]);
    expect(again.digest).toBe(built.digest);
    expect(cached()).toHaveLength(1);
  });

  it('is built anew where its cached snapshot is damaged', async () => {
    const { open, cached } = setUp({ 'one.jsonl': LINES.join('\n') });
    const built = await open(['one.jsonl']);
    const path = join(folder.path, 'cache', cached()[0] as string);
    writeFileSync(path, 'TSRACATL and then nothing of use');
    expect((await open(['one.jsonl'])).digest).toBe(built.digest);
  });

  it('is the same whatever happened to any place of its cached snapshot', async () => {
    const { open, cached } = setUp({ 'one.jsonl': LINES.join('\n') });
    const built = await open(['one.jsonl']);
    const path = join(folder.path, 'cache', cached()[0] as string);
    const whole = readFileSync(path);
    let state = 1;
    const below = (count: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * count);
    };
    for (let seed = 0; seed < DAMAGES; seed++) {
      const at = below(whole.length);
      const damaged = Buffer.from(whole);
      if (seed % 3 === 0) damaged[at] = (damaged[at] ?? 0) ^ (1 << below(8));
      else damaged.fill(0, at, Math.min(whole.length, at + 1 + below(64)));
      writeFileSync(path, seed % 3 === 1 ? damaged.subarray(0, at) : damaged);
      expect(await open(['one.jsonl']), `damage ${seed} at ${at}`).toEqual(built);
    }
  });

  it('is not built where less than the reserve is free', async () => {
    const { open, cached } = setUp({ 'one.jsonl': LINES.join('\n') });
    const built = open(['one.jsonl'], '', Number.MAX_SAFE_INTEGER);
    await expect(built).rejects.toMatchObject({
      code: 'STORE_FULL',
      field: 'disk.reserveBytes',
      message: expect.stringMatching(/expected 9007199254740991 bytes free/),
    });
    expect(cached()).toEqual([]);
  });

  it('gives its items the domain that it is named with', async () => {
    const { open } = setUp({ 'one.jsonl': LINES.join('\n') });
    const { items } = await open(['one.jsonl#domain=ad']);
    expect(items.map((item) => JSON.parse(item.attributes))).toEqual(
      items.map(() => ({ domain: 'ad' })),
    );
  });

  it('gets titles from a file of titles', async () => {
    const { open } = setUp({
      'x.index.json': { 5: [1, 2], 6: [1, 3] },
      'titles.json': { 5: { title: 'Five' }, 6: { title: 'Six' } },
    });
    const { items } = await open(['x.index.json'], 'titles.json');
    expect(items.map(({ itemId, title }) => [itemId, title]).sort()).toEqual([
      ['5', 'Five'],
      ['6', 'Six'],
    ]);
  });

  it('leaves at most SNAPSHOTS_MAX snapshots in the cache, the oldest gone first', async () => {
    const names = Array.from({ length: SNAPSHOTS_MAX }, (_, i) => `old${i}.snapshot`);
    const files = Object.fromEntries(names.map((name) => [join('cache', name), 'x']));
    const { open, cached } = setUp({ ...files, 'one.jsonl': LINES.join('\n') });
    names.forEach((name, age) => {
      utimesSync(join(folder.path, 'cache', name), 1000 + age, 1000 + age);
    });
    await open(['one.jsonl']);
    expect(cached()).toHaveLength(SNAPSHOTS_MAX);
    expect(cached()).not.toContain('old0.snapshot');
    expect(cached()).toContain('old1.snapshot');
  });

  it.each([
    [[], 'CATALOGUE_INVALID', /expected 1..64 files, got 0/],
    [
      ['none.jsonl'],
      'CATALOGUE_NOT_FOUND',
      /none.jsonl: expected a file of items \(catalogue.path/,
    ],
    [['cache'], 'CATALOGUE_INVALID', /cache: expected a file, read more than once/],
    [['bad.jsonl'], 'CATALOGUE_INVALID', /./],
    [['twice.jsonl'], 'CATALOGUE_INVALID', /a/],
  ])('%j is refused by a typed error and leaves nothing behind', async (paths, code, message) => {
    const { open, cached } = setUp({
      'bad.jsonl': '{"item_id": "a", "sid": []}\n',
      'twice.jsonl': [LINES[0], LINES[0]].join('\n'),
      'cache/kept.txt': '',
    });
    const refusal = expect(open(paths)).rejects;
    await refusal.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(cached()).toEqual(['kept.txt']);
  });
});
