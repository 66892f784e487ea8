import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { buildCatalogue, type ChangingCatalogue, openCatalogue } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { openRegular, partsOfRegular } from '@tessera/files';
import { convertBundle } from './bundle.js';
import type { CatalogueSource, ProgressListener } from './domain/catalogue-source.js';
import { isBundle } from './outside/bundle-folder.js';
import { SnapshotCache } from './outside/snapshot-cache.js';

/** Sources of one catalogue at most. */
const SOURCES_MAX = 64;
const SNAPSHOT_MAGIC = Buffer.from('TSRACATL');
/** Raised when a change of the builder makes other snapshots of the same sources. */
const BUILDER_VERSION = 1;

export interface CatalogueOptions {
  /** Sources: one snapshot, or importable files that make one catalogue. */
  readonly sources: readonly CatalogueSource[];
  /** JSON or TSV of titles; '' for none. */
  readonly titlesPath: string;
  /** Folder of built snapshots, by the digest of their sources. */
  readonly cacheDir: string;
  readonly onProgress: ProgressListener;
  /** Free bytes of the file system of the cache below which nothing is built; left out: 0. */
  readonly reserveBytes?: number;
  /** Told of a built snapshot that was damaged: it is built again. */
  readonly onDropped?: (reason: string) => void;
}

/**
 * Opens the catalogue that the sources make. A snapshot is opened as it is; importable files, or
 * the parts of one bundle, are
 * built into the cache unless it already has what they make.
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID, CATALOGUE_CORRUPT, STORE_FULL or
 *   IO_FAILED
 */
export async function prepareCatalogue(options: CatalogueOptions): Promise<PreparedCatalogue> {
  const first = options.sources[0];
  if (first !== undefined && (await isBundle(first.path))) return prepareBundle(options, first);
  return { catalogue: await prepareFiles(options), bundleUuid: '' };
}

/** A catalogue and the bundle that its items are those of; '' where they are of none. */
export interface PreparedCatalogue {
  readonly catalogue: ChangingCatalogue;
  readonly bundleUuid: string;
}

async function prepareBundle(
  options: CatalogueOptions,
  { path: folder, domain }: CatalogueSource,
): Promise<PreparedCatalogue> {
  const { sources, cacheDir, onProgress } = options;
  if (sources.length > 1) throw invalid('catalogue', 'expected a bundle to be the only source');
  await new SnapshotCache(cacheDir).prepare();
  const reading = { folder, cacheDir, onProgress };
  const { manifest, paths } = await convertBundle(reading);
  const parts = paths.map((path) => ({ path, domain }));
  const { codebook } = manifest;
  const catalogue = await prepareFiles({ ...options, sources: parts }, codebook);
  return { catalogue, bundleUuid: manifest.uuid };
}

async function prepareFiles(
  options: CatalogueOptions,
  levelSizes: readonly number[] = [],
): Promise<ChangingCatalogue> {
  const { sources } = options;
  if (sources.length < 1 || sources.length > SOURCES_MAX) {
    throw invalid('catalogue', `expected 1..${SOURCES_MAX} files, got ${sources.length}`);
  }
  const first = sources[0] as CatalogueSource;
  if (await isSnapshot(first.path)) {
    if (sources.length > 1) throw invalid('catalogue', 'expected a snapshot to be the only file');
    return openCatalogue(first.path);
  }
  const cache = new SnapshotCache(options.cacheDir);
  await cache.prepare();
  const digest = await digestOf(options, levelSizes);
  if (await cache.has(digest)) {
    const opened = await openCached(cache, digest, options.onDropped);
    if (opened !== undefined) return opened;
  }
  const { titlesPath, onProgress } = options;
  const outputPath = cache.pathOf(digest);
  await cache.checkSpace(options.reserveBytes ?? 0);
  await buildCatalogue({ sources, titlesPath, levelSizes, outputPath }, onProgress);
  await cache.trim();
  return openCatalogue(outputPath);
}

/** A damaged snapshot of the cache is no reason to stop: its sources are at hand. */
/** Faults after which a cached snapshot, also one of a newer release, is built anew. */
const BUILT_ANEW: ReadonlySet<string> = new Set([
  'CATALOGUE_CORRUPT',
  'CATALOGUE_NOT_FOUND',
  'STORE_NEWER',
]);

async function openCached(
  cache: SnapshotCache,
  digest: string,
  onDropped: CatalogueOptions['onDropped'],
): Promise<ChangingCatalogue | undefined> {
  try {
    return await openCatalogue(cache.pathOf(digest));
  } catch (thrown) {
    const { code, message } = TesseraError.from(thrown);
    // Another process may have taken it away since.
    if (!BUILT_ANEW.has(code)) throw thrown;
    if (code === 'CATALOGUE_CORRUPT') onDropped?.(message);
    await cache.forget(digest);
    return undefined;
  }
}

async function isSnapshot(path: string): Promise<boolean> {
  // Asked before it is opened: a pipe would wait for a writer.
  const found = await stat(path).catch((error) => {
    throw notReadable(path, error);
  });
  if (!found.isFile()) throw invalid('catalogue', `${path}: expected a file, read more than once`);
  const file = await openRegular(path).catch((error) => {
    throw notReadable(path, error);
  });
  try {
    const start = Buffer.alloc(SNAPSHOT_MAGIC.length);
    const { bytesRead } = await file.read(start, 0, start.length, 0);
    return bytesRead === start.length && start.equals(SNAPSHOT_MAGIC);
  } catch (error) {
    throw notReadable(path, error);
  } finally {
    await file.close();
  }
}

async function digestOf(
  { sources, titlesPath }: CatalogueOptions,
  levelSizes: readonly number[],
): Promise<string> {
  const hash = createHash('sha256').update(`builder ${BUILDER_VERSION}\0`);
  if (levelSizes.length > 0) hash.update(`levels ${levelSizes.join()}\0`);
  for (const { path, domain } of sources) {
    hash.update(`source ${JSON.stringify(domain)}\0`);
    hash.update(await fileDigest(path));
  }
  if (titlesPath !== '') hash.update('titles\0').update(await fileDigest(titlesPath));
  return hash.digest('hex').slice(0, 32);
}

async function fileDigest(path: string): Promise<Buffer> {
  const hash = createHash('sha256');
  try {
    for await (const part of partsOfRegular(path)) hash.update(part);
  } catch (error) {
    throw notReadable(path, error);
  }
  return hash.digest();
}

function notReadable(path: string, error: unknown): TesseraError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') {
    return new TesseraError(
      'CATALOGUE_NOT_FOUND',
      `${path}: expected a file of items (catalogue.path; docs/start/input-files.md), got nothing`,
      { field: 'catalogue', cause: error },
    );
  }
  return new TesseraError('IO_FAILED', `${path}: ${message}`, { cause: error });
}

function invalid(field: string, message: string): TesseraError {
  return new TesseraError('CATALOGUE_INVALID', `${field}: ${message}`, { field });
}
