import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { buildCatalogue, openCatalogue } from "../../../engine/src/index.js";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { openRegular, partsOfRegular } from "../../../ops/files/src/index.js";
import { convertBundle } from "./bundle.js";
import { isBundle } from "./outside/bundle-folder.js";
import { SnapshotCache } from "./outside/snapshot-cache.js";
/** Sources of one catalogue at most. */ const SOURCES_MAX = 64;
const SNAPSHOT_MAGIC = Buffer.from('TSRACATL');
/** Raised when a change of the builder makes other snapshots of the same sources. */ const BUILDER_VERSION = 1;
/**
 * Opens the catalogue that the sources make. A snapshot is opened as it is; importable files, or
 * the parts of one bundle, are
 * built into the cache unless it already has what they make.
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID, CATALOGUE_CORRUPT, STORE_FULL or
 *   IO_FAILED
 */ export async function prepareCatalogue(options) {
    const first = options.sources[0];
    if (first !== undefined && await isBundle(first.path)) return prepareBundle(options, first);
    return {
        catalogue: await prepareFiles(options),
        bundleUuid: ''
    };
}
async function prepareBundle(options, { path: folder, domain }) {
    const { sources, cacheDir, onProgress } = options;
    if (sources.length > 1) throw invalid('catalogue', 'expected a bundle to be the only source');
    await new SnapshotCache(cacheDir).prepare();
    const reading = {
        folder,
        cacheDir,
        onProgress
    };
    const { manifest, paths } = await convertBundle(reading);
    const parts = paths.map((path)=>({
            path,
            domain
        }));
    const { codebook } = manifest;
    const catalogue = await prepareFiles({
        ...options,
        sources: parts
    }, codebook);
    return {
        catalogue,
        bundleUuid: manifest.uuid
    };
}
async function prepareFiles(options, levelSizes = []) {
    const { sources } = options;
    if (sources.length < 1 || sources.length > SOURCES_MAX) {
        throw invalid('catalogue', `expected 1..${SOURCES_MAX} files, got ${sources.length}`);
    }
    const first = sources[0];
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
    await buildCatalogue({
        sources,
        titlesPath,
        levelSizes,
        outputPath
    }, onProgress);
    await cache.trim();
    return openCatalogue(outputPath);
}
/** A damaged snapshot of the cache is no reason to stop: its sources are at hand. */ /** Of a snapshot that is a cache: also one that a newer release has built. */ const BUILT_ANEW = new Set([
    'CATALOGUE_CORRUPT',
    'CATALOGUE_NOT_FOUND',
    'STORE_NEWER'
]);
async function openCached(cache, digest, onDropped) {
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
async function isSnapshot(path) {
    // Asked before it is opened: a pipe would wait for a writer.
    const found = await stat(path).catch((error)=>{
        throw notReadable(path, error);
    });
    if (!found.isFile()) throw invalid('catalogue', `${path}: expected a file, read more than once`);
    const file = await openRegular(path).catch((error)=>{
        throw notReadable(path, error);
    });
    try {
        const start = Buffer.alloc(SNAPSHOT_MAGIC.length);
        const { bytesRead } = await file.read(start, 0, start.length, 0);
        return bytesRead === start.length && start.equals(SNAPSHOT_MAGIC);
    } catch (error) {
        throw notReadable(path, error);
    } finally{
        await file.close();
    }
}
async function digestOf({ sources, titlesPath }, levelSizes) {
    const hash = createHash('sha256').update(`builder ${BUILDER_VERSION}\0`);
    if (levelSizes.length > 0) hash.update(`levels ${levelSizes.join()}\0`);
    for (const { path, domain } of sources){
        hash.update(`source ${JSON.stringify(domain)}\0`);
        hash.update(await fileDigest(path));
    }
    if (titlesPath !== '') hash.update('titles\0').update(await fileDigest(titlesPath));
    return hash.digest('hex').slice(0, 32);
}
async function fileDigest(path) {
    const hash = createHash('sha256');
    try {
        for await (const part of partsOfRegular(path))hash.update(part);
    } catch (error) {
        throw notReadable(path, error);
    }
    return hash.digest();
}
function notReadable(path, error) {
    const { code, message } = error;
    if (code === 'ENOENT') {
        return new TesseraError('CATALOGUE_NOT_FOUND', `${path}: expected a file of items (catalogue.path; docs/start/input-files.md), got nothing`, {
            field: 'catalogue',
            cause: error
        });
    }
    return new TesseraError('IO_FAILED', `${path}: ${message}`, {
        cause: error
    });
}
function invalid(field, message) {
    return new TesseraError('CATALOGUE_INVALID', `${field}: ${message}`, {
        field
    });
}

//# sourceMappingURL=prepare-catalogue.js.map