import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '@tessera/config';

/** Pattern of files that conversions keep: `1.changes.v1`, `registry.v1.json`. */
const KEPT = /\.v\d+(\.json)?$/;

/** Files that stores have kept of a format before theirs, for a release that reads no other. */
export function keptFormats({ catalogue, adapters, weights }: Config): readonly string[] {
  return [catalogue.changesPath, adapters.path, weights.path].flatMap((folder) =>
    folder === '' ? [] : keptBelow(folder, folder === catalogue.changesPath),
  );
}

function keptBelow(folder: string, isDeep: boolean): string[] {
  try {
    const names = readdirSync(folder, { recursive: isDeep, encoding: 'utf8' });
    return names.filter((name) => KEPT.test(name)).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
