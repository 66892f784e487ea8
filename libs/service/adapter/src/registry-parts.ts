import type { TesseraError } from '@tessera/errors';
import type { Disk } from '@tessera/files';
import type { Tokenizer } from '@tessera/prompt';
import type { AdapterEngine, AdapterLimits } from './domain/adapter-engine.js';
import type { AdapterVersion } from './domain/adapter-version.js';

export interface RegistryLimits extends AdapterLimits {
  /** Maximum bytes of the files of one version. */
  readonly versionBytesMax: number;
  /** Maximum bytes of the files of all versions. */
  readonly diskBytesMax: number;
}

export interface RegistrySettings {
  readonly folder: string;
  /** Serves the requests that name none. */
  readonly defaultName: string;
  readonly limits: RegistryLimits;
  /** Milliseconds since 1970. */
  readonly nowMs?: () => number;
  readonly disk?: Disk;
  /** Free bytes of the file system of the folder below which no version is taken. */
  readonly reserveBytes?: number;
}

export interface RegistryParts extends RegistrySettings {
  readonly engine: AdapterEngine;
  /** Tokenizer of the model; left out: no version that ranks is taken. */
  readonly tokenizer?: Pick<Tokenizer, 'encode'> | undefined;
  /** Told of a version that served and cannot be served any more. */
  readonly onLost?: (version: AdapterVersion, error: TesseraError) => void;
  /** Told of a version whose base model is not the one that is served. */
  readonly onWaiting?: (version: AdapterVersion) => void;
}
