import { TesseraError } from '@tessera/errors';
import { type Disk, diskError } from '@tessera/files';

export interface DiskCondition {
  readonly state: 'ok' | 'degraded';
  readonly reason: string;
}

/** The free bytes that a folder's writers leave to others, and how the last of them fared. */
export class DiskReserve {
  private reason = '';

  constructor(
    private readonly disk: Disk,
    private readonly folder: string,
    private readonly reserveBytes: number,
  ) {}

  /** Rejects with STORE_FULL where less than the reserve and `bytes` more is free. */
  async check(bytes: number): Promise<void> {
    const free = await this.disk.freeBytes(this.folder).catch(() => Number.POSITIVE_INFINITY);
    if (free - bytes >= this.reserveBytes) return;
    const message =
      `${this.folder}: expected ${this.reserveBytes} bytes free beside what is written ` +
      `(disk.reserveBytes), got ${free}`;
    throw new TesseraError('STORE_FULL', message, { field: 'disk.reserveBytes' });
  }

  /** Rejects as `write` does; what the disk refuses shows in condition(). */
  async watched<Result>(write: () => Promise<Result>): Promise<Result> {
    try {
      const result = await write();
      this.reason = '';
      return result;
    } catch (thrown) {
      const error = diskError(thrown, this.folder);
      if (error.code === 'STORE_FULL' || error.code === 'IO_FAILED') this.reason = error.message;
      throw thrown;
    }
  }

  /** Condition of the disk, as of the last write or look. */
  condition(): DiskCondition {
    return { state: this.reason === '' ? 'ok' : 'degraded', reason: this.reason };
  }

  /** Looks whether there is room now; what failed before is tried again by whoever wants it. */
  async look(): Promise<void> {
    this.reason = await this.check(0).then(
      () => '',
      (error: Error) => error.message,
    );
  }
}
