import { partsOfRegular } from '@tessera/files';
/**
 * Catalogues as bundles of Parquet files: reading, converting, writing (docs/integrate/bundles.md).
 */

import { createHash, randomUUID } from 'node:crypto';
import { access, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundleManifest } from './domain/bundle-manifest.js';
import {
  type BundleBucket,
  type BundleItem,
  type BundleRow,
  completed,
  parseBucket,
  parseItem,
} from './domain/bundle-row.js';
import type { ProgressListener } from './domain/catalogue-source.js';
import {
  BadRows,
  BundleWriter,
  checkRowCount,
  partFiles,
  readArtifact,
  readManifest,
  readPart,
} from './outside/bundle-folder.js';

/** Rows of a part file that an export writes. */
const PART_ROWS = 250_000;
/** Lines written at once. */
const LINES_AT_ONCE = 4096;

export interface BundleReading {
  readonly folder: string;
  readonly onProgress: ProgressListener;
}

export interface BundleDelta {
  readonly manifest: BundleManifest;
  readonly items: readonly BundleRow[];
  readonly buckets: readonly BundleBucket[];
  readonly badRows: number;
}

/**
 * The delta files of a bundle: the items of its run, and every touched bucket in full. Up to
 * `toleratedRows` bad rows are left out.
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID naming file and row
 */
export async function readDelta(
  reading: BundleReading & { readonly toleratedRows: number },
): Promise<BundleDelta> {
  const { folder, onProgress } = reading;
  const manifest = await readManifest(folder);
  const badRows = new BadRows(reading.toleratedRows);
  const items = await readArtifact(folder, manifest, 'delta_item_to_sid', {
    parse: (row) => parseItem(row, manifest),
    badRows,
    onProgress,
  });
  const buckets = await readArtifact(folder, manifest, 'delta_sid_to_items', {
    parse: (row) => parseBucket(row, manifest),
    badRows,
    onProgress,
  });
  badRows.check();
  return { manifest, items, buckets, badRows: badRows.count };
}

/**
 * The items of a whole bundle as JSON lines, one file per part. A part that has been converted
 * before is not converted again: an import that was interrupted goes on where it was.
 * @returns the paths of the files
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID naming file and row
 */
export async function convertBundle(
  reading: BundleReading & { readonly cacheDir: string },
): Promise<{ readonly manifest: BundleManifest; readonly paths: string[] }> {
  const { folder, cacheDir, onProgress } = reading;
  const manifest = await readManifest(folder);
  const badRows = new BadRows(0);
  const files = await partFiles(folder, manifest, 'item_to_sid');
  const paths: string[] = [];
  let rows = 0;
  for (const [i, file] of files.entries()) {
    onProgress('bundle', i, files.length);
    const before = badRows.count;
    const part = await convertPart(file, manifest, cacheDir, badRows);
    paths.push(part.path);
    rows += part.rows + badRows.count - before;
  }
  onProgress('bundle', files.length, files.length);
  badRows.check();
  checkRowCount(manifest, 'item_to_sid', rows);
  return { manifest, paths };
}

async function convertPart(
  file: string,
  manifest: BundleManifest,
  cacheDir: string,
  badRows: BadRows,
): Promise<{ readonly path: string; readonly rows: number }> {
  const digest = createHash('sha256').update(JSON.stringify(manifest.codebook));
  for await (const part of partsOfRegular(file)) digest.update(part);
  const path = join(cacheDir, `${digest.digest('hex').slice(0, 32)}.jsonl`);
  if (await exists(path)) return { path, rows: await countLines(path) };
  const before = badRows.count;
  const temporary = `${path}.${randomUUID()}.tmp`;
  const output = await open(temporary, 'w');
  let rows = 0;
  try {
    let lines: string[] = [];
    for await (const item of readPart(file, (row) => parseItem(row, manifest), badRows)) {
      rows += 1;
      lines.push(lineOf(completed(item)));
      if (lines.length < LINES_AT_ONCE) continue;
      await output.write(lines.join(''));
      lines = [];
    }
    await output.write(lines.join(''));
  } finally {
    await output.close();
  }
  // One with bad rows must be read again, so that they are reported again.
  const kept = badRows.count === before ? path : temporary;
  if (kept === path) await rename(temporary, path);
  return { path: kept, rows };
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function countLines(path: string): Promise<number> {
  let lines = 0;
  for await (const part of partsOfRegular(path)) {
    for (const byte of part) lines += byte === NEW_LINE ? 1 : 0;
  }
  return lines;
}

const NEW_LINE = 10;

function lineOf({ itemId, sid, title, attributes, priority }: BundleItem): string {
  const text = JSON.stringify({ item_id: itemId, sid, title, priority });
  return `${text.slice(0, -1)},"attributes":${attributes}}\n`;
}

export interface BundleExport {
  readonly folder: string;
  readonly levelSizes: readonly number[];
  readonly onProgress: ProgressListener;
}

/**
 * Writes items as a whole bundle; the folder has its name only when all of it is there.
 * @returns its UUID and the number of its items
 * @throws TesseraError STORE_FULL, IO_FAILED
 */
export async function exportBundle(
  pages: AsyncIterable<readonly BundleItem[]>,
  { folder, levelSizes, onProgress }: BundleExport,
): Promise<{ readonly uuid: string; readonly items: number }> {
  const writer = new BundleWriter(folder);
  const buckets = new Map<string, string[]>();
  const uuid = randomUUID();
  let items: BundleItem[] = [];
  let count = 0;
  const flush = async () => {
    await writer.part('item_to_sid', itemColumns(items, levelSizes, buckets));
    count += items.length;
    items = [];
    onProgress('item_to_sid', count, count);
  };
  try {
    for await (const page of pages) {
      items.push(...page);
      if (items.length >= PART_ROWS) await flush();
    }
    if (items.length > 0 || count === 0) await flush();
    const longest = [...buckets.values()].reduce((max, ids) => Math.max(max, ids.length), 0);
    const rows = [...buckets];
    for (let first = 0; first < Math.max(rows.length, 1); first += PART_ROWS) {
      const some = rows.slice(first, first + PART_ROWS);
      const sids = some.map(([key]) => key.split(',').map(Number));
      await writer.part('sid_to_items', {
        codebook: sids,
        offset_codebook: sids.map((sid) => withOffsets(sid, levelSizes)),
        itemids: some.map(([, ids]) => ids),
      });
    }
    await writer.finish({ uuid, codebook: levelSizes, sinceUuid: '' }, longest);
  } catch (error) {
    await writer.abandon();
    throw error;
  }
  return { uuid, items: count };
}

function itemColumns(
  items: readonly BundleItem[],
  levelSizes: readonly number[],
  buckets: Map<string, string[]>,
) {
  const places = items.map(({ itemId, sid }) => {
    const key = sid.join();
    const bucket = buckets.get(key) ?? [];
    if (bucket.length === 0) buckets.set(key, bucket);
    bucket.push(itemId);
    return BigInt(bucket.length);
  });
  const sids = items.map(({ sid }) => [...sid]);
  return {
    item_id: items.map(({ itemId }) => itemId),
    origin_codebook: sids,
    codebook: sids,
    offset_codebook: sids.map((sid) => withOffsets(sid, levelSizes)),
    index: places,
    title: items.map(({ title }) => title),
    attributes: items.map(({ attributes }) => attributes),
    priority: items.map(({ priority }) => priority),
  };
}

function withOffsets(sid: readonly number[], levelSizes: readonly number[]): number[] {
  let offset = 0;
  return sid.map((code, level) => {
    const shifted = code + offset;
    offset += levelSizes[level] ?? 0;
    return shifted;
  });
}
