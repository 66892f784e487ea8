import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { type Disk, FILE_SYSTEM, readRegular, replaceFile } from '@tessera/files';

/** An erasure that has been asked for and does not hold everywhere yet. */
export interface PendingErasure {
  readonly userId: string;
  /** Milliseconds since 1970 at which it was asked for. */
  readonly askedMs: number;
  /** The behaviours are gone: only what was made of them is left. */
  readonly isSpreading: boolean;
}

const SUFFIX = '.json';
const FILE_BYTES_MAX = 1 << 20;
const FIELD = 'behaviours.path';

/**
 * The erasures that are to be finished, one file each in a folder, durable before anything is
 * erased: a process that dies goes on with them when it starts again.
 */
export class PendingErasures {
  private readonly pending = new Map<string, PendingErasure>();

  private constructor(
    private readonly folder: string,
    private readonly disk: Disk,
  ) {}

  /** Rejects with IO_FAILED; a file that is none of ours, or was cut off, is left alone. */
  static async open(folder: string, disk = FILE_SYSTEM): Promise<PendingErasures> {
    const erasures = new PendingErasures(folder, disk);
    await erasures.failingAs('opened', async () => {
      await mkdir(folder, { recursive: true });
      for (const name of await readdir(folder)) {
        const found = name.endsWith(SUFFIX) ? await readPending(join(folder, name)) : undefined;
        if (found !== undefined) erasures.pending.set(found.userId, found);
      }
    });
    return erasures;
  }

  /** Oldest first. */
  list(): readonly PendingErasure[] {
    return [...this.pending.values()].sort((a, b) => a.askedMs - b.askedMs);
  }

  /**
   * Durable when it resolves; takes the place of an earlier one of the user. Rejects with
   * IO_FAILED, or STORE_FULL where there is no room.
   */
  async put(erasure: PendingErasure): Promise<void> {
    const path = this.pathOf(erasure.userId);
    const what = `${FIELD}: an erasure`;
    await replaceFile(this.disk, path, JSON.stringify(erasure), what);
    this.pending.set(erasure.userId, erasure);
  }

  /** It holds everywhere. */
  async remove({ userId, askedMs }: PendingErasure): Promise<void> {
    // Another one of the user may have come meanwhile.
    if (this.pending.get(userId)?.askedMs !== askedMs) return;
    this.pending.delete(userId);
    await this.failingAs('removed', () => rm(this.pathOf(userId), { force: true }));
  }

  private pathOf(userId: string): string {
    const name = createHash('sha256').update(userId).digest('hex');
    return join(this.folder, `${name}${SUFFIX}`);
  }

  private async failingAs(what: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `${FIELD}: expected files that can be ${what}, got: ${reason}`;
      throw new TesseraError('IO_FAILED', message, { field: FIELD, cause });
    }
  }
}

async function readPending(path: string): Promise<PendingErasure | undefined> {
  try {
    const { userId, askedMs, isSpreading } = JSON.parse(
      (await readRegular(path, FILE_BYTES_MAX)).toString(),
    );
    if (typeof userId !== 'string' || typeof askedMs !== 'number') return undefined;
    return { userId, askedMs, isSpreading: isSpreading === true };
  } catch {
    return undefined;
  }
}
