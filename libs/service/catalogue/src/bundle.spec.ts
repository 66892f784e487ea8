import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import {
  type BundleItem,
  deltaChanges,
  exportBundle,
  parseSource,
  prepareCatalogue,
  readDelta,
} from '@tessera/catalogue';
import { EVERY_ITEM } from '@tessera/engine';
import { temporaryFolder } from '@tessera/testing';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, describe, expect, it } from 'vitest';
import type { BundleManifest } from './domain/bundle-manifest.js';
import { parseItem } from './domain/bundle-row.js';
import { BadRows, BundleWriter, readPart } from './outside/bundle-folder.js';

const LEVELS = [4, 8];
const onProgress = () => undefined;
let folder = temporaryFolder({});
afterEach(() => folder.remove());

const item = (itemId: string, sid: number[], change: Partial<BundleItem> = {}): BundleItem => ({
  itemId,
  sid,
  title: '',
  attributes: '{}',
  priority: 0,
  ...change,
});

async function* pages(items: readonly BundleItem[]) {
  yield items.slice(0, 1);
  yield items.slice(1);
}

async function exported(items: readonly BundleItem[]): Promise<string> {
  folder = temporaryFolder({});
  const path = join(folder.path, 'bundle');
  await exportBundle(pages(items), { folder: path, levelSizes: LEVELS, onProgress });
  return path;
}

function open(path: string) {
  return prepareCatalogue({
    sources: [parseSource(path)],
    titlesPath: '',
    cacheDir: join(folder.path, 'cache'),
    onProgress,
  });
}

/** Rows of a trainer's item_to_sid, columns that only this service writes left out. */
async function trained(rows: readonly { itemId: string; codes: number[]; index?: number }[]) {
  folder = temporaryFolder({});
  const path = join(folder.path, 'bundle');
  const writer = new BundleWriter(path);
  const codes = rows.map((row) => row.codes);
  await writer.part('item_to_sid', {
    item_id: rows.map((row) => row.itemId),
    origin_codebook: codes,
    codebook: codes,
    offset_codebook: codes.map(([a = 0, b = 0]) => [a, b + 4]),
    index: rows.map((row) => BigInt(row.index ?? 1)),
    title: rows.map(() => ''),
    attributes: rows.map(() => ''),
    priority: rows.map(() => 0),
  });
  await writer.finish({ uuid: 'u1', codebook: LEVELS, sinceUuid: '' }, 1);
  return path;
}

describe('a part file', () => {
  const CODECS = [
    ['GZIP', gzipSync],
    ['ZSTD', zstdCompressSync],
    ['BROTLI', brotliCompressSync],
    ['LZO', deflateSync],
  ] as const;
  async function read(codec: (typeof CODECS)[number][0], values: (string | number)[]) {
    const compress = CODECS.find(([name]) => name === codec)?.[1] ?? gzipSync;
    const data = parquetWriteBuffer({
      columnData: [{ name: 'item_id', data: values }],
      codec,
      compressors: { [codec]: (page: Uint8Array) => new Uint8Array(compress(page)) },
    });
    folder = temporaryFolder({});
    const file = join(folder.path, 'part-0.parquet');
    writeFileSync(file, Buffer.from(data));
    const rows = [];
    for await (const row of readPart(file, (one) => one.item_id, new BadRows(0))) rows.push(row);
    return rows;
  }

  it('may be compressed as Polars, Spark and DuckDB do', async () => {
    const values = Array.from({ length: 5000 }, (_, i) => `item ${i % 97} of ${i}`);
    for (const codec of ['GZIP', 'ZSTD', 'BROTLI'] as const) {
      expect(await read(codec, values), codec).toEqual(values);
    }
    await expect(read('LZO', ['a'])).rejects.toThrow(/LZO .*Snappy, gzip, zstd and Brotli/);
  });

  it('has IDs as text or whole numbers, and numbers that were rounded are told', () => {
    const manifest = { uuid: '', codebook: LEVELS, sinceUuid: '', artifacts: {} };
    const id = (itemId: number) => () => parseItem({ item_id: itemId, codebook: [0] }, manifest);
    expect(id(2 ** 60)).toThrow(/item_id: expected an item ID as text or INT64 \(above 2\^53/);
    expect(id(7)().itemId).toBe('7');
  });
});

const ITEMS = [
  item('b', [1, 2], { title: 'Bé', attributes: '{"bid":2,"labels":["new"]}', priority: 1.5 }),
  item('a', [1, 2], { priority: 2 }),
  item('c', [3, 7]),
];

describe('a bundle', () => {
  it('that was written is read back item for item', async () => {
    const path = await exported(ITEMS);
    const { catalogue, bundleUuid } = await open(path);
    const manifest = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8'));
    expect(bundleUuid).toBe(manifest.bundle_uuid);
    expect(manifest).toMatchObject({ codebook: LEVELS, max_observed_items_per_sid: 2 });
    const { pages: listed } = { pages: catalogue.listItems(await catalogue.reach(EVERY_ITEM)) };
    const found = [...listed].flat().map(({ isPaused: _, ...rest }) => rest);
    const byId = (one: BundleItem, two: BundleItem) => (one.itemId < two.itemId ? -1 : 1);
    expect(found.sort(byId)).toEqual([...ITEMS].sort(byId));
    expect(catalogue.summary.levelSizes).toEqual(LEVELS);
    catalogue.close();
  });

  it('says what the disk refuses, not what cannot be removed behind it', async () => {
    folder = temporaryFolder({ file: '' });
    const path = join(folder.path, 'file', 'bundle');
    const written = exportBundle(pages([]), { folder: path, levelSizes: LEVELS, onProgress });
    await expect(written).rejects.toMatchObject({
      code: 'IO_FAILED',
      message: expect.stringContaining(`${path}: ENOTDIR: not a directory, mkdir`),
    });
  });

  it('has the columns and offsets that trainers give theirs', async () => {
    const path = await exported(ITEMS);
    const rows = async (name: string) => {
      const file = join(path, name, 'part-00000.parquet');
      const { buffer, byteOffset, byteLength } = readFileSync(file);
      return parquetReadObjects({
        file: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer,
      });
    };
    expect((await rows('item_to_sid'))[1]).toMatchObject({
      item_id: 'a',
      codebook: [1, 2],
      offset_codebook: [1, 6],
      index: 2n,
    });
    expect(await rows('sid_to_items')).toEqual([
      { codebook: [1, 2], offset_codebook: [1, 6], itemids: ['b', 'a'] },
      { codebook: [3, 7], offset_codebook: [3, 11], itemids: ['c'] },
    ]);
  });

  it('goes on with the parts that were converted before it was interrupted', async () => {
    const path = await exported(ITEMS);
    const cache = () => readdirSync(join(folder.path, 'cache'));
    (await open(path)).catalogue.close();
    const before = cache();
    expect(before.filter((name) => name.endsWith('.jsonl'))).toHaveLength(1);
    (await open(path)).catalogue.close();
    expect(cache().sort()).toEqual(before.sort());
  });

  it('has no attributes with a number that JSON has no word for', () => {
    const manifest = { codebook: [8, 16] } as unknown as BundleManifest;
    const row = { item_id: 'a', codebook: [1, 2], attributes: { bid: [1, Number.NaN] } };
    expect(() => parseItem(row, manifest)).toThrow('attributes: expected finite numbers, got NaN');
    const finite = { ...row, attributes: { bid: [1] } };
    expect(parseItem(finite, manifest).attributes).toBe('{"bid":[1]}');
  });

  it('is refused as a whole for bad rows, named by file and row', async () => {
    const path = await trained([
      { itemId: 'a', codes: [1, 2] },
      { itemId: 'b', codes: [1, 9] },
      { itemId: 'c', codes: [3, 1], index: 0 },
      { itemId: '', codes: [3, 1] },
    ]);
    const expected =
      /3 bad rows.*item_to_sid\/part-00000.parquet row 1: codebook\[1\]: expected 0..7, got 9/;
    await expect(open(path)).rejects.toMatchObject({
      code: 'CATALOGUE_INVALID',
      message: expect.stringMatching(expected),
    });
  });

  it.each([
    [{ codebook: [] }, 'codebook'],
    [{ codebook: [4, 0] }, 'codebook[1]'],
    [{ bundle_uuid: 7 }, 'bundle_uuid'],
    [{ artifacts: {} }, 'artifacts.item_to_sid'],
    [{ artifacts: { item_to_sid: { save_type: 'csv' } } }, 'artifacts.item_to_sid.save_type'],
    [
      { artifacts: { item_to_sid: { save_type: 'parquet', rows: 9, location: 'item_to_sid' } } },
      'artifacts.item_to_sid.rows',
    ],
    [
      { artifacts: { item_to_sid: { save_type: 'parquet', rows: 3, location: 'elsewhere' } } },
      'artifacts.item_to_sid',
    ],
  ])('whose manifest says %j is refused', async (change, field) => {
    const path = await exported(ITEMS);
    const manifest = join(path, 'manifest.json');
    const json = JSON.parse(readFileSync(manifest, 'utf8'));
    writeFileSync(manifest, JSON.stringify({ ...json, ...change }));
    await expect(open(path)).rejects.toMatchObject({ code: 'CATALOGUE_INVALID', field });
  });

  it('whose file is no Parquet is refused by the name of the file', async () => {
    const path = await exported(ITEMS);
    writeFileSync(join(path, 'item_to_sid', 'part-00000.parquet'), 'nothing of use');
    await expect(open(path)).rejects.toMatchObject({
      code: 'CATALOGUE_INVALID',
      message: expect.stringContaining('part-00000.parquet'),
    });
  });
});

describe('a delta', () => {
  const bucketsOf = (items: readonly BundleItem[]) => {
    const buckets = new Map<string, { sid: readonly number[]; itemIds: string[] }>();
    for (const { itemId, sid } of items) {
      const bucket = buckets.get(sid.join()) ?? { sid, itemIds: [] };
      buckets.set(sid.join(), bucket);
      bucket.itemIds.push(itemId);
    }
    return buckets;
  };
  const apply = (items: readonly BundleItem[], changes: ReturnType<typeof deltaChanges>) => {
    const map = new Map(items.map((one) => [one.itemId, one]));
    for (const change of changes) {
      const { op, ...rest } = change;
      if (op === 'remove') map.delete(change.itemId);
      else map.set(change.itemId, rest as BundleItem);
    }
    return map;
  };

  it('replaces the touched buckets and leaves the others, whatever the items are', () => {
    const items = fc.uniqueArray(
      fc.record({ id: fc.integer({ min: 0, max: 12 }), a: fc.nat(2), b: fc.nat(2), p: fc.nat(1) }),
      { selector: ({ id }) => id, maxLength: 10 },
    );
    fc.assert(
      fc.property(items, items, (before, after) => {
        const toItem = (one: { id: number; a: number; b: number; p: number }) =>
          item(`i${one.id}`, [one.a, one.b], { priority: one.p });
        const old = before.map(toItem);
        const next = after.map(toItem);
        // Every bucket of either is touched, those of the old alone are empty now.
        const buckets = bucketsOf(next);
        for (const { sid } of old) {
          if (!buckets.has(sid.join())) buckets.set(sid.join(), { sid, itemIds: [] });
        }
        const changes = deltaChanges(next, [...buckets.values()], [old]);
        const result = apply(old, changes);
        expect(new Map([...result].sort())).toEqual(
          new Map(next.map((one) => [one.itemId, one] as const).sort()),
        );
        expect(new Set(changes.map(({ itemId }) => itemId)).size).toBe(changes.length);
        expect(deltaChanges(next, [...buckets.values()], [[...result.values()]])).toEqual([]);
      }),
      { numRuns: 300, verbose: 1 },
    );
  });

  it('keeps what its rows have no column for, and items of other buckets', () => {
    const [b, a, c] = ITEMS as [BundleItem, BundleItem, BundleItem];
    const row = { itemId: 'b', sid: [1, 3], title: undefined, attributes: undefined, priority: -1 };
    const buckets = [
      { sid: [1, 2], itemIds: ['a'] },
      { sid: [1, 3], itemIds: ['b'] },
    ];
    expect(deltaChanges([row], buckets, [[b, a], [c]])).toEqual([
      { op: 'upsert', ...b, sid: [1, 3], priority: -1 },
    ]);
    expect(() => deltaChanges([], [{ sid: [1, 2], itemIds: ['x'] }], [[a]])).toThrow(/'x'/);
  });

  it('is read with its buckets, and refused where a bucket is not one', async () => {
    folder = temporaryFolder({});
    const path = join(folder.path, 'delta');
    const writer = new BundleWriter(path);
    const codes = [[1, 2]];
    await writer.part('delta_item_to_sid', {
      item_id: ['x'],
      origin_codebook: codes,
      codebook: codes,
      offset_codebook: [[1, 6]],
      index: [1n],
      title: [''],
      attributes: [''],
      priority: [0],
    });
    await writer.part('delta_sid_to_items', {
      codebook: codes,
      offset_codebook: [[1, 5]],
      itemids: [['x']],
    });
    await writer.finish({ uuid: 'u2', codebook: LEVELS, sinceUuid: 'u1' }, 1);
    const wrong = readDelta({ folder: path, toleratedRows: 0, onProgress });
    await expect(wrong).rejects.toThrow(/offset_codebook\[1\]: expected 6, got 5/);
    const delta = await readDelta({ folder: path, toleratedRows: 1, onProgress });
    expect(delta).toMatchObject({ manifest: { sinceUuid: 'u1' }, badRows: 1, buckets: [] });
  });
});
