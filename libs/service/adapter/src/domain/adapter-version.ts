/** Versions of adapters, and the rules of their names. */

import { createHash } from 'node:crypto';
import { expecting, TesseraError } from '@tessera/errors';

export const invalid = expecting('ADAPTER_INVALID');

export const ADAPTER_STATES = [
  'received',
  'validated',
  'canary',
  'active',
  'retired',
  'rejected',
] as const;

export type AdapterState = (typeof ADAPTER_STATES)[number];

/** The name that stands for the model without an adapter. */
export const BASE = 'base';
const NAME_LENGTH_MAX = 64;
export const REMARK_LENGTH_MAX = 1024;
/** Digits of a digest that may stand for it, where they are of one version alone. */
export const DIGEST_DIGITS_MIN = 8;
const NAME = /^[a-z0-9][a-z0-9._-]*$/;
const DIGEST = /^[0-9a-f]{64}$/;

/** Files of a version: factors (PEFT), and heads with how they read items; one pair, or both. */
const FILE_PAIRS = [
  ['adapter_config.json', 'adapter_model.safetensors'],
  ['ranking.json', 'heads.safetensors'],
] as const;
/** All of them are read, so no others are kept. */
export const ADAPTER_FILES = FILE_PAIRS.flat();

export interface AdapterFile {
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 of the content, 64 hexadecimal digits. */
  readonly sha256: string;
}

/** Findings of the engine when it validated the version. */
export interface AdapterFacts {
  readonly rankMax: number;
  readonly targetCount: number;
  readonly replacedRows: number;
  readonly largestNorm: number;
  /** Names; none: it ranks nothing. */
  readonly heads: readonly string[];
  /** It changes the rows of ranked items alone. */
  readonly isActivated: boolean;
}

export interface AdapterVersion {
  readonly name: string;
  readonly digest: string;
  readonly state: AdapterState;
  /** Why it is rejected or retired; '' where nothing went wrong. */
  readonly reason: string;
  readonly baseModel: string;
  readonly files: readonly AdapterFile[];
  /** Milliseconds since 1970. */
  readonly receivedMs: number;
  readonly changedMs: number;
  readonly isPinned: boolean;
  /** Share of the users, in (0, 1) for a canary; 0 for others. */
  readonly share: number;
  /** Number of its activation among those of the name; 0: never, or it was rolled back. */
  readonly activation: number;
  readonly remark: string;
  /** The caller who pushed it; '' where that is not known. */
  readonly pushedBy: string;
  /** The trainer that pushes versions of the name by itself; '': a person did. */
  readonly holder: string;
  /** Time of the newest behaviour that it was trained on, milliseconds since 1970; 0: not known. */
  readonly learnedUntilMs: number;
  readonly facts: AdapterFacts | null;
}

/** A version as it is known now. */
export interface ListedVersion extends AdapterVersion {
  readonly isLoaded: boolean;
  readonly arenaBytes: number;
  readonly isPredecessor: boolean;
  /** Milliseconds since 1970: end of the lease of the name that its push took; 0: none. */
  readonly leaseUntilMs: number;
}

/** Parts of a version, but for its files' content: as it is pushed. */
export type ReceivedVersion = Pick<
  AdapterVersion,
  'name' | 'digest' | 'baseModel' | 'files' | 'remark' | 'pushedBy' | 'holder' | 'learnedUntilMs'
>;

/** A version whose files have arrived and which nobody has tried yet. */
export function receivedVersion(given: ReceivedVersion, nowMs: number): AdapterVersion {
  return {
    ...given,
    state: 'received',
    reason: '',
    receivedMs: nowMs,
    changedMs: nowMs,
    isPinned: false,
    share: 0,
    activation: 0,
    facts: null,
  };
}

/** This alone separates digests from names, so no name may look like a digest. */
export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** @throws TesseraError ADAPTER_INVALID */
export function checkName(name: string, field = 'name'): void {
  const isGood = name.length <= NAME_LENGTH_MAX && NAME.test(name);
  if (isGood && name !== BASE && !isDigest(name)) return;
  const grammar = `1..${NAME_LENGTH_MAX} of a-z, 0-9, '.', '_' and '-', a letter or digit first`;
  throw invalid(field, `${grammar}, and not '${BASE}'`, `'${name}'`);
}

/** @throws TesseraError ADAPTER_INVALID for a share that is not in (0, 1] */
export function checkShare(share: number): void {
  if (share > 0 && share <= 1) return;
  throw invalid('share', 'a number above 0 and at most 1', share);
}

/**
 * The files of a version, in the order in which their bytes come.
 * @throws TesseraError ADAPTER_INVALID for a file that is missing, strange, twice or too large
 */
export function checkFiles(files: readonly AdapterFile[], bytesMax: number): AdapterFile[] {
  files.forEach(({ name, bytes, sha256 }, index) => {
    const field = `files[${index}]`;
    if (!(ADAPTER_FILES as readonly string[]).includes(name)) {
      throw invalid(`${field}.name`, ADAPTER_FILES.join(' or '), `'${name}'`);
    }
    if (files.findIndex((other) => other.name === name) !== index) {
      throw invalid(`${field}.name`, 'each file once', `'${name}' again`);
    }
    if (!Number.isSafeInteger(bytes) || bytes < 1) {
      throw invalid(`${field}.bytes`, 'at least 1', bytes);
    }
    if (!isDigest(sha256)) throw invalid(`${field}.sha256`, '64 hexadecimal digits', sha256);
  });
  const isThere = (name: string) => files.some((file) => file.name === name);
  const begun = FILE_PAIRS.filter((pair) => pair.some(isThere));
  const missing = (begun[0] === undefined ? FILE_PAIRS : begun)
    .flat()
    .find((name) => !isThere(name));
  if (missing !== undefined) throw invalid('files', missing, 'a push without it');
  const bytes = fileBytes(files);
  if (bytes > bytesMax) throw invalid('files', `at most ${bytesMax} bytes in all`, bytes);
  return [...files];
}

/** A store may say of what is not there that nobody may see it. */
const ABSENCE: ReadonlySet<string> = new Set(['ADAPTER_NOT_FOUND', 'ADAPTER_SOURCE_DENIED']);

/**
 * Both files of each pair that a place has any of.
 * @param look rejects with ADAPTER_NOT_FOUND or _SOURCE_DENIED for a file that is not there, and
 *   so does this where half of a pair is missing, or all
 */
export async function filesFound<Found extends object>(
  look: (name: (typeof ADAPTER_FILES)[number]) => Promise<Found>,
): Promise<(Found & { readonly name: string })[]> {
  const found: (Found & { readonly name: string })[] = [];
  const absences: TesseraError[] = [];
  for (const pair of FILE_PAIRS) {
    const absent: TesseraError[] = [];
    for (const name of pair) {
      await look(name).then(
        (file) => found.push(Object.assign(file, { name })),
        (thrown: unknown) => {
          const error = TesseraError.from(thrown);
          if (!ABSENCE.has(error.code)) throw thrown;
          absent.push(error);
        },
      );
    }
    const [error] = absent;
    if (error !== undefined && absent.length < pair.length) throw error;
    absences.push(...absent);
  }
  const [error] = absences;
  if (found.length === 0 && error !== undefined) throw error;
  return found;
}

export function fileBytes(files: readonly AdapterFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Digest of names, sizes and contents: the name of the version from then on. */
export function digestOf(files: readonly AdapterFile[]): string {
  const lines = files.map(({ name, bytes, sha256 }) => `${name} ${bytes} ${sha256}\n`).sort();
  return createHash('sha256').update(lines.join('')).digest('hex');
}
