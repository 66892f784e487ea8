import type { Position } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { isInnerPath } from '@tessera/files';
import { z } from 'zod';

const FORMAT = 1;

const inner = z.string().refine(isInnerPath, 'a path inside the store');

/** A user who was erased, for nodes and disks that have not read of it. */
const erasedSchema = z.object({
  userId: z.string(),
  withBehaviours: z.boolean(),
  withRecords: z.boolean(),
  offset: z.number().int(),
  atMs: z.number(),
});

const manifestSchema = z.object({
  format: z.number(),
  log: z.string(),
  /** Every entry up to it is in the files. */
  offset: z.number().int(),
  /** Chain of the log at the snapshot; '' where an earlier release made it. */
  chain: z.string().default(''),
  atMs: z.number(),
  files: z.array(
    z.object({
      store: z.string(),
      path: inner,
      bytes: z.number(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
  /** Ascending by offset. */
  erased: z.array(erasedSchema),
});

export type ErasedUser = z.infer<typeof erasedSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

const OFFSET_DIGITS = 15;

/** Prefix of all manifests and files of one log: a store may hold those of another log too. */
export const manifestsOf = (log: string) => `snapshots/${log}/`;
export const filesOf = (log: string) => `files/${log}/`;

/** In the order of the offsets. Two states that a log might begin with have other names. */
export const manifestName = ({ log, offset, entry }: Position) =>
  `${manifestsOf(log)}${String(offset).padStart(OFFSET_DIGITS, '0')}-${entry}.json`;
export const fileName = (log: string, sha256: string) => `${filesOf(log)}${sha256}`;

/** User of an entry that erases; undefined where it names none: it was refused. */
export function erasedUserOf(body: unknown, offset: number, atMs: number): ErasedUser | undefined {
  return erasedSchema.safeParse(Object.assign({}, body, { offset, atMs })).data;
}

export function manifestText(manifest: Omit<Manifest, 'format'>): string {
  return JSON.stringify({ format: FORMAT, ...manifest });
}

/** @throws TesseraError STORE_NEWER, STORE_CORRUPT */
export function parsedManifest(name: string, bytes: Uint8Array): Manifest {
  const found = manifestSchema.safeParse(jsonOf(bytes));
  if (found.success && found.data.format === FORMAT) return found.data;
  const isNewer = found.success && found.data.format > FORMAT;
  const got = isNewer ? `format ${found.data.format}, which a newer release wrote` : 'another text';
  const message = `${name}: expected a snapshot of format ${FORMAT}, got ${got}`;
  throw new TesseraError(isNewer ? 'STORE_NEWER' : 'STORE_CORRUPT', message);
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
