import { createHash } from 'node:crypto';
import { fileBytes, filesFound, invalid } from '../domain/adapter-version.js';
import type { PushPart, PushParts } from '../domain/push-parts.js';
import { type Announced, announcedHeader, fetchedParts } from './fetched-folder.js';
import { isS3Location, S3Store } from './s3-store.js';

export interface AnnouncedSettings {
  /** Folder that versions are fetched from; empty: none. */
  readonly folder: string;
  /** Undefined: none. */
  readonly store: S3Store | undefined;
  /** Maximum bytes of a version's files. */
  readonly bytesMax: number;
}

/** Versions that are announced, wherever they lie. */
export class AnnouncedVersions {
  constructor(private readonly settings: AnnouncedSettings) {}

  /**
   * The version as a push. Rejects with ADAPTER_INVALID, _NOT_FOUND, _CORRUPT, and
   * ADAPTER_SOURCE_DENIED or _UNAVAILABLE, the last also where `signal` ends it.
   */
  parts(announced: Announced, signal: AbortSignal): PushParts {
    const { folder, store } = this.settings;
    if (isS3Location(announced.location)) {
      if (store !== undefined) return this.stored(store, announced, signal);
      throw invalid('location', 'a path: adapters.s3Buckets names none', announced.location);
    }
    if (folder !== '') return fetchedParts(folder, announced);
    throw invalid('location', 's3://...: adapters.fetchPath is empty', announced.location);
  }

  /** Objects whose digest is not announced are read twice: the header comes first. */
  private async *stored(
    store: S3Store,
    announced: Announced,
    closing: AbortSignal,
  ): AsyncGenerator<PushPart> {
    const folder = store.folderOf(announced.location);
    const signal = AbortSignal.any([closing, AbortSignal.timeout(store.settings.timeoutMs)]);
    const objects = await filesFound(async (name) =>
      Object.assign(await store.look(folder, name, signal), { sha256: '' }),
    );
    const bytes = fileBytes(objects);
    const { bytesMax } = this.settings;
    if (bytes > bytesMax) throw invalid('files', `at most ${bytesMax} bytes in all`, bytes);
    for (const object of objects) {
      const known = announced.sha256[object.name];
      object.sha256 = known ?? (await sha256Of(store.read(folder, object, signal)));
    }
    yield announcedHeader(announced, objects);
    for (const object of objects) {
      for await (const data of store.read(folder, object, signal)) yield { data };
    }
    yield { isEnd: true };
  }
}

async function sha256Of(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex');
}
