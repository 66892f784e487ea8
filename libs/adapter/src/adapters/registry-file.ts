import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { z } from 'zod';
import { ADAPTER_STATES } from '../domain/adapter-version.js';
import { EMPTY_STATE, type RegistryState } from '../domain/registry-state.js';
import { type Disk, replaceFile } from './disk.js';

const NAME = 'registry.json';
const FORMAT = 1;

const count = z.number().min(0);
const versionSchema = z.strictObject({
  name: z.string(),
  digest: z.string(),
  state: z.enum(ADAPTER_STATES),
  reason: z.string(),
  baseModel: z.string(),
  files: z.array(z.strictObject({ name: z.string(), bytes: count, sha256: z.string() })),
  receivedMs: count,
  changedMs: count,
  isPinned: z.boolean(),
  share: z.number(),
  activation: count,
  remark: z.string(),
  /** Absent in files that are older. */
  pushedBy: z.string().default(''),
  facts: z
    .strictObject({ rankMax: count, targetCount: count, replacedRows: count, largestNorm: count })
    .nullable(),
});
const documentSchema = z.strictObject({
  format: z.literal(FORMAT),
  versions: z.array(versionSchema),
});

/** The state on disk: one file, replaced as a whole, so that a crash leaves the old or the new. */
export class RegistryFile {
  private readonly path: string;

  constructor(
    folder: string,
    private readonly disk: Disk,
  ) {
    this.path = join(folder, NAME);
  }

  /** @throws TesseraError ADAPTER_CORRUPT where the file is not one that was written here */
  async read(): Promise<RegistryState> {
    const text = await this.disk.read(this.path);
    if (text === undefined) return EMPTY_STATE;
    try {
      const { versions } = documentSchema.parse(JSON.parse(text.toString('utf8')));
      return { versions };
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `${this.path}: expected the state of the registry, came: ${reason}`;
      throw new TesseraError('ADAPTER_CORRUPT', message.slice(0, 1000), { cause });
    }
  }

  /** Resolves when it is durable. Rejects with STORE_FULL or IO_FAILED: the old state stands. */
  async write({ versions }: RegistryState): Promise<void> {
    const text = `${JSON.stringify({ format: FORMAT, versions }, null, 1)}\n`;
    await replaceFile(this.disk, this.path, text, 'the state of the registry');
  }
}
