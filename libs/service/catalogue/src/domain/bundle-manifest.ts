/**
 * The manifest of a bundle of Parquet files, as trainers publish catalogues
 * (docs/integrate/bundles.md). It is written last: a folder without one is no bundle yet.
 */

import { expecting, parseJson, shown, TesseraError } from '@tessera/errors';

const invalid = expecting('CATALOGUE_INVALID');

const ARTIFACTS = [
  'item_to_sid',
  'sid_to_items',
  'delta_item_to_sid',
  'delta_sid_to_items',
] as const;
export type ArtifactName = (typeof ARTIFACTS)[number];

export interface BundleArtifact {
  readonly rows: number;
  /** Folder of its part files, in the bundle's. */
  readonly location: string;
}

export interface BundleManifest {
  readonly uuid: string;
  /** Codes per level. */
  readonly codebook: readonly number[];
  /** ID of the bundle that the delta files follow; '' where there are none. */
  readonly sinceUuid: string;
  readonly artifacts: Readonly<Partial<Record<ArtifactName, BundleArtifact>>>;
}

const LEVELS_MAX = 32;
const TEXT_MAX = 256;

function record(path: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw invalid(path, 'an object', shown(value));
}

function word(path: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= TEXT_MAX && value !== '') return value;
  throw invalid(path, `1..${TEXT_MAX} characters`, shown(value));
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function artifact(name: string, value: unknown): BundleArtifact {
  const path = `artifacts.${name}`;
  const { save_type: saveType, rows, location } = record(path, value);
  if (saveType !== 'parquet') throw invalid(`${path}.save_type`, "'parquet'", shown(saveType));
  if (!isCount(rows)) throw invalid(`${path}.rows`, 'a count', shown(rows));
  // Made where it was trained: of a path from elsewhere, the last part is the folder's name.
  const folder = word(`${path}.location`, location).split('/').filter(Boolean).at(-1) ?? '';
  if (folder === '' || folder === '..' || folder === '.') {
    throw invalid(`${path}.location`, 'a folder', shown(location));
  }
  return { rows, location: folder };
}

/** @throws TesseraError CATALOGUE_INVALID with the path of the member at fault */
export function parseManifest(text: string): BundleManifest {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch (error) {
    throw new TesseraError('CATALOGUE_INVALID', `manifest: ${(error as Error).message}`, {
      field: 'manifest',
      cause: error,
    });
  }
  const manifest = record('manifest', json);
  const { codebook, since_bundle_uuid: since } = manifest;
  if (!Array.isArray(codebook) || codebook.length < 1 || codebook.length > LEVELS_MAX) {
    throw invalid('codebook', `1..${LEVELS_MAX} level sizes`, shown(codebook));
  }
  const wrong = codebook.findIndex((size) => !isCount(size) || size < 1);
  if (wrong >= 0) throw invalid(`codebook[${wrong}]`, 'at least 1', shown(codebook[wrong]));
  const listed = record('artifacts', manifest.artifacts);
  const artifacts = Object.fromEntries(
    ARTIFACTS.filter((name) => listed[name] !== undefined && listed[name] !== null).map((name) => [
      name,
      artifact(name, listed[name]),
    ]),
  );
  return {
    uuid: word('bundle_uuid', manifest.bundle_uuid),
    codebook,
    sinceUuid: since === undefined || since === null ? '' : word('since_bundle_uuid', since),
    artifacts,
  };
}

/** Items per SID at most, where the one who writes it knows. */
export function manifestText(manifest: BundleManifest, itemsPerSidMax: number): string {
  const artifacts = Object.entries(manifest.artifacts).map(([name, { rows, location }]) => [
    name,
    { save_type: 'parquet', rows, location },
  ]);
  return `${JSON.stringify(
    {
      bundle_uuid: manifest.uuid,
      codebook: manifest.codebook,
      capacity: itemsPerSidMax,
      max_observed_items_per_sid: itemsPerSidMax,
      artifacts: Object.fromEntries(artifacts),
      ...(manifest.sinceUuid === '' ? {} : { since_bundle_uuid: manifest.sinceUuid }),
      item_id_type: 'string',
    },
    null,
    2,
  )}\n`;
}
