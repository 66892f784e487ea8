import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import type { Disk } from '@tessera/files';
import { z } from 'zod';
import { ADAPTER_FILES, ADAPTER_STATES, isDigest } from '../domain/adapter-version.js';
import type { RegistryState } from '../domain/registry-state.js';
import { isNewer, KeptState } from './kept-state.js';

const NAME = 'registry.json';

const count = z.number().min(0);
const versionSchema = z.strictObject({
  name: z.string(),
  /** Name of a folder: nothing leads out of the registry's. */
  digest: z.string().refine(isDigest),
  state: z.enum(ADAPTER_STATES),
  reason: z.string(),
  baseModel: z.string(),
  files: z.array(z.strictObject({ name: z.enum(ADAPTER_FILES), bytes: count, sha256: z.string() })),
  receivedMs: count,
  changedMs: count,
  isPinned: z.boolean(),
  share: z.number(),
  activation: count,
  remark: z.string(),
  /** Absent in files that are older. */
  pushedBy: z.string().default(''),
  holder: z.string().default(''),
  learnedUntilMs: count.default(0),
  facts: z
    .strictObject({
      rankMax: count,
      targetCount: count,
      replacedRows: count,
      largestNorm: count,
      /** Absent in files that are older. */
      heads: z.array(z.string()).default([]),
      isActivated: z.boolean().default(false),
    })
    .nullable(),
});
const leaseSchema = z.strictObject({
  name: z.string(),
  holder: z.string(),
  digest: z.string(),
  takenMs: count,
  seconds: count,
});
const documentSchema = z.strictObject({
  versions: z.array(versionSchema),
  leases: z.array(leaseSchema).default([]),
});

/** The state on disk. */
export class RegistryFile {
  private readonly kept: KeptState;

  constructor(folder: string, disk: Disk) {
    this.kept = new KeptState(disk, join(folder, NAME), 'the state of the registry');
  }

  /**
   * Undefined where none was ever written here.
   * @throws TesseraError STORE_NEWER, or ADAPTER_CORRUPT where neither the file nor its copy can be
   *   read
   */
  async read(): Promise<{ readonly state: RegistryState; readonly isStale: boolean } | undefined> {
    try {
      return await this.kept.read((members) => documentSchema.parse(members));
    } catch (cause) {
      if (isNewer(cause)) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw damaged(`${this.kept.path}: expected the state of the registry, got: ${reason}`, cause);
    }
  }

  /**
   * @throws TesseraError ADAPTER_CORRUPT: versions lie in the folder, and nothing says what they
   *   are
   */
  checkNew(digests: readonly string[]): void {
    if (digests.length === 0) return;
    const folders = `${digests.length} folders of versions`;
    throw damaged(`${this.kept.path}: expected the state of ${folders}, got no such file`);
  }

  /** Resolves when it is durable. Rejects with STORE_FULL or IO_FAILED: the old state stands. */
  async write({ versions, leases }: RegistryState): Promise<void> {
    await this.kept.write({ versions, leases });
  }
}

function damaged(message: string, cause?: unknown): TesseraError {
  const remedy = 'restore a backup, or `npm run repair` makes one of the folders of versions';
  return new TesseraError('ADAPTER_CORRUPT', `${message.slice(0, 1000)}; ${remedy}`, { cause });
}
