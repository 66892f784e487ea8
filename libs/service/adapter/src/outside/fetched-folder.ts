import { type FileHandle, realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { TesseraError } from '@tessera/errors';
import {
  type AdapterFile,
  filesFound,
  invalid,
  REMARK_LENGTH_MAX,
} from '../domain/adapter-version.js';
import type { PushPart, PushParts } from '../domain/push-parts.js';
import { contentOf, hashOfOpen, openRegular } from './regular-file.js';

/** A version that lies in a folder, or below a prefix of a bucket. */
export interface Announced {
  readonly name: string;
  readonly baseModel: string;
  /** Relative to the folder that versions are fetched from, or `s3://BUCKET/PREFIX/`. */
  readonly location: string;
  /** SHA-256 by file; files left out are taken as they are. */
  readonly sha256: Readonly<Record<string, string>>;
}

/** Neither `..` nor a link leads out of the root. */
async function folderIn(root: string, location: string): Promise<string> {
  if (location === '' || isAbsolute(location) || location.includes('\0')) {
    throw invalid('location', 'a relative path', `'${location}'`);
  }
  const [top, found] = await Promise.all([
    realpath(root),
    realpath(join(root, location)).catch((cause: unknown) => {
      const message = `location: expected a folder, there is none at '${location.slice(0, 200)}'`;
      throw new TesseraError('ADAPTER_NOT_FOUND', message, { field: 'location', cause });
    }),
  ]);
  if (found.startsWith(top + sep)) return found;
  throw invalid('location', 'a path below adapters.fetchPath', `'${location}'`);
}

/** The header of its push. */
export function announcedHeader(
  { name, baseModel, location }: Announced,
  files: readonly AdapterFile[],
): PushPart {
  const listed = files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 }));
  const remark = `announced at ${location}`.slice(0, REMARK_LENGTH_MAX);
  return { header: { name, baseModel, files: listed, remark } };
}

/**
 * The files below `root` as a push: regular files alone, so that no link leads out of the root.
 * Rejects with ADAPTER_INVALID, _NOT_FOUND, _CORRUPT before anything of them is passed on.
 */
export async function* fetchedParts(
  root: string,
  announced: Announced,
): PushParts & AsyncGenerator<PushPart> {
  const { location, sha256 } = announced;
  const folder = await folderIn(root, location);
  const opened: FileHandle[] = [];
  try {
    const files: readonly AdapterFile[] = await filesFound(async (name) => {
      const path = join(folder, name);
      const file = await openRegular(path, 'refused');
      opened.push(file);
      const found = await hashOfOpen(file, path);
      const expected = sha256[name] ?? found.sha256;
      if (expected !== found.sha256) {
        const message = `sha256.${name}: expected ${expected.slice(0, 80)}, got ${found.sha256}`;
        throw new TesseraError('ADAPTER_CORRUPT', message, { field: `sha256.${name}` });
      }
      return found;
    });
    yield announcedHeader(announced, files);
    for (const file of opened) for await (const data of contentOf(file)) yield { data };
    yield { isEnd: true };
  } finally {
    for (const file of opened) await file.close();
  }
}
