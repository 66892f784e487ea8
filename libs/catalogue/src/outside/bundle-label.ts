import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { readRegular } from '@tessera/files';

const LABEL_BYTES_MAX = 4096;

const NAME = 'bundle';

/** Which bundle the items of a catalogue are those of, kept beside its changes. */
export class BundleLabel {
  private constructor(
    private readonly folder: string,
    private current: string,
  ) {}

  /** Ends with the process. */
  static unkept(uuid: string): BundleLabel {
    return new BundleLabel('', uuid);
  }

  /** `folder` '': kept nowhere. `seed` is that of the sources, '' for none. */
  static async open(folder: string, seed: string): Promise<BundleLabel> {
    if (folder === '') return BundleLabel.unkept(seed);
    const kept = await readRegular(join(folder, NAME), LABEL_BYTES_MAX).catch(() => seed);
    return new BundleLabel(folder, kept.toString().trim());
  }

  get uuid(): string {
    return this.current;
  }

  /** @throws TesseraError IO_FAILED */
  async become(uuid: string): Promise<void> {
    if (this.folder !== '') {
      const path = join(this.folder, NAME);
      try {
        await writeFile(`${path}.tmp`, `${uuid}\n`);
        await rename(`${path}.tmp`, path);
      } catch (error) {
        const message = `${path}: ${(error as Error).message}`;
        throw new TesseraError('IO_FAILED', message, { cause: error });
      }
    }
    this.current = uuid;
  }
}
