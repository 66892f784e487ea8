import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { TesseraError } from '@tessera/errors';
import { diskError, readRegular, textOf } from '@tessera/files';
import {
  type ArtifactName,
  type BundleManifest,
  manifestText,
  parseManifest,
} from '../domain/bundle-manifest.js';
import { RowFault } from '../domain/bundle-row.js';
import type { ProgressListener } from '../domain/catalogue-source.js';

const MANIFEST_BYTES_MAX = 16 << 20;

const MANIFEST = 'manifest.json';
/** Rows held in memory while a part file is read. */
const ROWS_AT_ONCE = 65_536;
/** Bad rows that are named; further ones are counted. */
const NAMED_MAX = 10;

/** Loaded only where a catalogue is a bundle. */
const loadReader = async () => {
  const [reader, { decompress }] = await Promise.all([import('hyparquet'), import('fzstd')]);
  /** Codecs beside Snappy; a page's header says how many bytes it becomes. */
  const compressors = {
    GZIP: (page: Uint8Array, maxOutputLength: number) => gunzipSync(page, { maxOutputLength }),
    BROTLI: (page: Uint8Array, maxOutputLength: number) =>
      brotliDecompressSync(page, { maxOutputLength }),
    ZSTD: (page: Uint8Array, bytes: number) => decompress(page, new Uint8Array(bytes)),
  };
  return { reader, compressors };
};

type Row = Readonly<Record<string, unknown>>;

export async function isBundle(path: string): Promise<boolean> {
  const found = await stat(join(path, MANIFEST)).catch(() => undefined);
  return found?.isFile() === true;
}

/** @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID */
export async function readManifest(folder: string): Promise<BundleManifest> {
  const bytes = await readRegular(join(folder, MANIFEST), MANIFEST_BYTES_MAX).catch(
    (error: Error) => {
      const message = `${folder}: no bundle: ${error.message}`;
      throw new TesseraError('CATALOGUE_NOT_FOUND', message, { cause: error });
    },
  );
  return parseManifest(textOf(join(folder, MANIFEST), bytes, 'CATALOGUE_INVALID'));
}

/** Part files of an artifact, in the order of their names. */
export async function partFiles(
  folder: string,
  manifest: BundleManifest,
  name: ArtifactName,
): Promise<string[]> {
  const artifact = manifest.artifacts[name];
  if (artifact === undefined) {
    throw new TesseraError('CATALOGUE_INVALID', `artifacts.${name}: the bundle has none`, {
      field: `artifacts.${name}`,
    });
  }
  const path = join(folder, artifact.location);
  const names = await readdir(path).catch((error: Error) => {
    const message = `artifacts.${name}: ${error.message}`;
    throw new TesseraError('CATALOGUE_INVALID', message, { field: `artifacts.${name}` });
  });
  return names
    .filter((file) => file.endsWith('.parquet'))
    .sort()
    .map((file) => join(path, file));
}

/** The bad rows of a bundle: more than are tolerated refuse it as a whole. */
export class BadRows {
  private readonly named: string[] = [];
  count = 0;

  constructor(private readonly toleratedMax: number) {}

  add(file: string, row: number, fault: RowFault): void {
    this.count += 1;
    const place = `${basename(join(file, '..'))}/${basename(file)} row ${row}`;
    if (this.named.length < NAMED_MAX) this.named.push(`${place}: ${fault.message}`);
  }

  /** @throws TesseraError CATALOGUE_INVALID naming the first of them by file and row */
  check(): void {
    if (this.count <= this.toleratedMax) return;
    const more = this.count > this.named.length ? `; ${this.count - this.named.length} more` : '';
    const rows = `${this.named.join('; ')}${more}`;
    const tolerated = `${this.count} bad rows, expected at most ${this.toleratedMax}`;
    throw new TesseraError('CATALOGUE_INVALID', `bundle: ${tolerated}: ${rows}`, {
      field: 'bundle',
    });
  }
}

/** Rows of a part file that `parse` accepts; from 0. */
export async function* readPart<Value>(
  file: string,
  parse: (row: Row) => Value,
  badRows: BadRows,
): AsyncGenerator<Value> {
  try {
    const { reader, compressors } = await loadReader();
    const buffer = await reader.asyncBufferFromFile(file);
    const metadata = await reader.parquetMetadataAsync(buffer);
    const rowCount = Number(metadata.num_rows);
    for (let first = 0; first < rowCount; first += ROWS_AT_ONCE) {
      const rowEnd = Math.min(rowCount, first + ROWS_AT_ONCE);
      const part = { file: buffer, metadata, compressors, rowStart: first, rowEnd };
      const rows = await reader.parquetReadObjects(part);
      for (const [i, row] of rows.entries()) {
        const value = parsed(row, parse, (fault) => badRows.add(file, first + i, fault));
        if (value !== undefined) yield value;
      }
    }
  } catch (error) {
    if (error instanceof TesseraError) throw error;
    const read = '(read are uncompressed pages, Snappy, gzip, zstd and Brotli)';
    const message = `${file}: not readable as Parquet: ${(error as Error).message} ${read}`;
    throw new TesseraError('CATALOGUE_INVALID', message, { cause: error });
  }
}

function parsed<Value>(
  row: Row,
  parse: (row: Row) => Value,
  onFault: (fault: RowFault) => void,
): Value | undefined {
  try {
    return parse(row);
  } catch (thrown) {
    if (!(thrown instanceof RowFault)) throw thrown;
    onFault(thrown);
    return undefined;
  }
}

/** All rows of an artifact, whose number must be what the manifest says. */
export async function readArtifact<Value>(
  folder: string,
  manifest: BundleManifest,
  name: ArtifactName,
  reading: {
    readonly parse: (row: Row) => Value;
    readonly badRows: BadRows;
    readonly onProgress: ProgressListener;
  },
): Promise<Value[]> {
  const values: Value[] = [];
  const before = reading.badRows.count;
  const files = await partFiles(folder, manifest, name);
  for (const [i, file] of files.entries()) {
    reading.onProgress(name, i, files.length);
    for await (const value of readPart(file, reading.parse, reading.badRows)) values.push(value);
  }
  reading.onProgress(name, files.length, files.length);
  checkRowCount(manifest, name, values.length + reading.badRows.count - before);
  return values;
}

/** @throws TesseraError CATALOGUE_INVALID where manifest and files disagree */
export function checkRowCount(manifest: BundleManifest, name: ArtifactName, got: number): void {
  const expected = manifest.artifacts[name]?.rows ?? 0;
  if (expected === got) return;
  const field = `artifacts.${name}.rows`;
  const message = `${field}: the manifest says ${expected}, the files have ${got}`;
  throw new TesseraError('CATALOGUE_INVALID', message, { field });
}

/** A list of INT32, nested as Parquet wants it. */
const listOf = (name: string, element: object) => [
  { name, converted_type: 'LIST', repetition_type: 'REQUIRED', num_children: 1 },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', repetition_type: 'REQUIRED', ...element },
];
const INT32 = { type: 'INT32' };
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' };
const column = (name: string, element: object) => [
  { name, repetition_type: 'REQUIRED', ...element },
];

const SCHEMAS: Readonly<Record<'items' | 'buckets', readonly object[]>> = {
  items: [
    { name: 'root', num_children: 8 },
    ...column('item_id', TEXT),
    ...listOf('origin_codebook', INT32),
    ...listOf('codebook', INT32),
    ...listOf('offset_codebook', INT32),
    ...column('index', { type: 'INT64' }),
    ...column('title', TEXT),
    ...column('attributes', TEXT),
    ...column('priority', { type: 'DOUBLE' }),
  ],
  buckets: [
    { name: 'root', num_children: 3 },
    ...listOf('codebook', INT32),
    ...listOf('offset_codebook', INT32),
    ...listOf('itemids', TEXT),
  ],
};

/** Writes part files of an artifact into a folder that is given its name when all is there. */
export class BundleWriter {
  private readonly temporary: string;
  private readonly rows = new Map<ArtifactName, number>();

  constructor(private readonly folder: string) {
    this.temporary = `${folder}.${randomUUID()}.tmp`;
  }

  /** Rejects with STORE_FULL, IO_FAILED. */
  async part(name: ArtifactName, columns: Readonly<Record<string, unknown[]>>): Promise<void> {
    const location = join(this.temporary, name);
    await this.done(mkdir(location, { recursive: true }));
    const count = Object.values(columns)[0]?.length ?? 0;
    const part = (await readdir(location)).length;
    const schema = name.endsWith('sid_to_items') ? SCHEMAS.buckets : SCHEMAS.items;
    const { parquetWriteBuffer } = await import('hyparquet-writer');
    const data = parquetWriteBuffer({
      columnData: Object.entries(columns).map(([key, values]) => ({ name: key, data: values })),
      schema: schema as never,
    });
    const file = `part-${String(part).padStart(5, '0')}.parquet`;
    await this.done(writeFile(join(location, file), Buffer.from(data)));
    this.rows.set(name, (this.rows.get(name) ?? 0) + count);
  }

  /** The manifest last, then the folder's name. Rejects as `part` does. */
  async finish(manifest: Omit<BundleManifest, 'artifacts'>, itemsPerSidMax: number): Promise<void> {
    const artifacts = Object.fromEntries(
      [...this.rows].map(([name, rows]) => [name, { rows, location: name }]),
    );
    const text = manifestText({ ...manifest, artifacts }, itemsPerSidMax);
    await this.done(writeFile(join(this.temporary, MANIFEST), text));
    await this.done(rename(this.temporary, this.folder));
  }

  /** A disk that refuses to be written may refuse this too. */
  async abandon(): Promise<void> {
    await rm(this.temporary, { recursive: true, force: true }).catch(() => undefined);
  }

  private async done(step: Promise<unknown>): Promise<void> {
    await step.catch((error) => {
      throw diskError(error, this.folder);
    });
  }
}
