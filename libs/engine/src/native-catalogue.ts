import type { CatalogueBuildReport, CatalogueHandle } from '@tessera/native';
import { addon } from './addon.js';
import type { Catalogue, CatalogueItem, CatalogueSummary } from './engine.js';
import { awaitNative, callNative } from './native-error.js';

/**
 * A snapshot mapped by the addon. Reads go straight to the mapping; nothing is kept in JavaScript.
 */
export class NativeCatalogue implements Catalogue {
  readonly summary: CatalogueSummary;

  constructor(
    /** Seen by NativeEngine alone. */
    readonly handle: CatalogueHandle,
  ) {
    const info = callNative(() => addon().catalogueInfo(handle));
    this.summary = {
      digest: info.digest,
      depth: info.depth,
      levelSizes: [...info.levelSizes],
      levelPatterns: info.levelPatterns,
      pathCount: info.pathCount,
      itemCount: info.itemCount,
      fileBytes: info.fileBytes,
    };
  }

  find(itemIds: readonly string[]): Uint32Array {
    return callNative(() => addon().catalogueFind(this.handle, itemIds));
  }

  sids(ordinals: Uint32Array): number[][] {
    const { offsets, codes } = callNative(() => addon().catalogueSids(this.handle, ordinals));
    return Array.from(ordinals, (_, i) => [...codes.subarray(offsets[i], offsets[i + 1])]);
  }

  items(ordinals: Uint32Array): CatalogueItem[] {
    const { itemIds, titles, attributes } = callNative(() =>
      addon().catalogueItems(this.handle, ordinals),
    );
    return itemIds.map((itemId, i) => ({
      itemId,
      title: titles[i] ?? '',
      attributes: attributes[i] ?? '{}',
    }));
  }

  close(): void {
    callNative(() => addon().catalogueClose(this.handle));
  }
}

/** Maps and checks a snapshot file. Rejects with CATALOGUE_NOT_FOUND or CATALOGUE_CORRUPT. */
export async function openCatalogue(path: string): Promise<Catalogue> {
  return new NativeCatalogue(await awaitNative(() => addon().catalogueOpen(path)));
}

export interface CatalogueSourceFile {
  /** index.json, sid2pid.json, JSON lines or an existing snapshot; told apart by content. */
  readonly path: string;
  /** Domain given to all items of the file; '' for none. */
  readonly domain: string;
}

export interface CatalogueBuild {
  readonly sources: readonly CatalogueSourceFile[];
  /** Titles file (JSON or TSV); '' for none. */
  readonly titlesPath: string;
  /** Codes per level; empty: derived from the items. */
  readonly levelSizes: readonly number[];
  readonly outputPath: string;
}

/** Called as a build goes on; `done` of `total` units of the stage. */
export type BuildProgress = (stage: string, done: number, total: number) => void;

/**
 * Builds a snapshot file off this thread. Rejects with CATALOGUE_INVALID, CATALOGUE_NOT_FOUND or
 * IO_FAILED; the output is untouched then.
 */
export async function buildCatalogue(
  build: CatalogueBuild,
  onProgress: BuildProgress,
): Promise<CatalogueBuildReport> {
  return awaitNative(() =>
    addon().catalogueBuild(
      {
        sources: build.sources.map((source) => source.path),
        domains: build.sources.map((source) => source.domain),
        titlesPath: build.titlesPath,
        levelSizes: Uint32Array.from(build.levelSizes),
        outputPath: build.outputPath,
      },
      onProgress,
    ),
  );
}
