import { createHash } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { type Disk, FILE_SYSTEM, readRegular, replaceFile, wipeFile } from '@tessera/files';

/** An erasure that was asked for and does not hold everywhere yet: what is left of it to do. */
export interface PendingErasure {
  readonly userId: string;
  /** Milliseconds since 1970 at which it was asked for. */
  readonly atMs: number;
  /** Its place in the cluster log; 0 where there is none. */
  readonly offset: number;
  /** Behaviours are still to be erased: those until `atMs`. */
  readonly withBehaviours: boolean;
  /** Recorded recalls are still to be erased. */
  readonly withRecords: boolean;
  /** Prompts, keys and values are still to be erased. */
  readonly withPool: boolean;
}

const SUFFIX = '.json';
const PARTIAL = '.partial';
const FILE_BYTES_MAX = 1 << 20;
const FIELD = 'behaviours.path';

/**
 * The erasures that are to be finished, one file each in a folder of this process's own. A put is
 * durable when it resolves, file and folder; a remove takes the user's name out of the bytes. Puts
 * and removes take turns, in the order of the calls. Reads are of memory.
 */
export class PendingErasures {
  /** By user, then by offset. */
  private readonly pending = new Map<string, Map<number, PendingErasure>>();
  private turn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly folder: string,
    private readonly disk: Disk,
  ) {}

  /** Rejects with IO_FAILED; a file that is none of ours is left alone. */
  static async open(folder: string, disk = FILE_SYSTEM): Promise<PendingErasures> {
    const erasures = new PendingErasures(folder, disk);
    await failingAs('opened', () => erasures.read());
    return erasures;
  }

  /** In the order of the log; without one, oldest first. */
  list(): readonly PendingErasure[] {
    const all = [...this.pending.values()].flatMap((ofUser) => [...ofUser.values()]);
    return all.sort((a, b) => a.offset - b.offset || a.atMs - b.atMs);
  }

  /** Nothing that is kept of the user may be read or added to. */
  has(userId: string): boolean {
    return this.pending.has(userId);
  }

  /**
   * Durable when it resolves, and known to has() from the call on; takes the place of one of the
   * same user and offset, also to note what of it is done, but not of one that was asked for later.
   * Rejects with IO_FAILED, or STORE_FULL where there is no room: what was there before holds on.
   */
  async put(erasure: PendingErasure): Promise<void> {
    const before = this.pending.get(erasure.userId)?.get(erasure.offset);
    if (before !== undefined && before.atMs > erasure.atMs) return;
    this.note(erasure);
    await this.inTurn(async () => {
      try {
        const text = JSON.stringify(erasure);
        await replaceFile(this.disk, this.pathOf(erasure), text, `${FIELD}: an erasure`);
      } catch (thrown) {
        if (this.holds(erasure)) this.forget(erasure);
        if (before !== undefined) this.note(before);
        throw thrown;
      }
    });
  }

  /**
   * It holds everywhere: its file is overwritten and gone when this resolves. Nothing where another
   * one of the user took its place meanwhile. Rejects with IO_FAILED, and it is pending on.
   */
  remove(erasure: PendingErasure): Promise<void> {
    return this.inTurn(async () => {
      if (!this.holds(erasure)) return;
      await failingAs('removed', () => wipeFile(this.pathOf(erasure)));
      if (this.holds(erasure)) this.forget(erasure);
    });
  }

  private holds({ userId, offset, atMs }: PendingErasure): boolean {
    return this.pending.get(userId)?.get(offset)?.atMs === atMs;
  }

  private note(erasure: PendingErasure): void {
    const ofUser = this.pending.get(erasure.userId) ?? new Map<number, PendingErasure>();
    this.pending.set(erasure.userId, ofUser.set(erasure.offset, erasure));
  }

  private forget({ userId, offset }: PendingErasure): void {
    const ofUser = this.pending.get(userId);
    ofUser?.delete(offset);
    if (ofUser?.size === 0) this.pending.delete(userId);
  }

  private inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.turn.then(act);
    this.turn = done.catch(() => undefined);
    return done;
  }

  private async read(): Promise<void> {
    const made = await mkdir(this.folder, { recursive: true });
    if (made !== undefined) await this.disk.syncFolder(dirname(resolve(made)));
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      // A put that a crash ended was not promised; the file that it was to replace is there.
      if (name.endsWith(`${SUFFIX}${PARTIAL}`)) await wipeFile(path);
      if (!name.endsWith(SUFFIX)) continue;
      const bytes = await readRegular(path, FILE_BYTES_MAX).catch(unlessFailed);
      // A removal that a crash ended has overwritten it already.
      if (bytes?.every((byte) => byte === 0)) await wipeFile(path);
      const found = bytes && erasureIn(bytes.toString());
      if (found !== undefined) this.note(found);
    }
  }

  private pathOf({ userId, offset }: PendingErasure): string {
    const name = createHash('sha256').update(userId).digest('hex');
    return join(this.folder, `${name}${offset === 0 ? '' : `.${offset}`}${SUFFIX}`);
  }
}

async function failingAs(what: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `${FIELD}: expected files that can be ${what}, got: ${reason}`;
    throw new TesseraError('IO_FAILED', message, { field: FIELD, cause });
  }
}

/** A file that is not a regular one is none of ours; one that cannot be read may be. */
function unlessFailed(thrown: NodeJS.ErrnoException): undefined {
  if (thrown.code !== undefined) throw thrown;
}

/** Also of the form before, with `askedMs`, and `isSpreading` once behaviours were gone. */
function erasureIn(text: string): PendingErasure | undefined {
  try {
    const { userId, askedMs, isSpreading, ...now } = JSON.parse(text);
    const { atMs = askedMs, offset = 0, withBehaviours = isSpreading !== true } = now;
    if (typeof userId !== 'string' || typeof atMs !== 'number') return undefined;
    const [withRecords, withPool] = [now.withRecords !== false, now.withPool !== false];
    return { userId, atMs, offset, withBehaviours, withRecords, withPool };
  } catch {
    return undefined;
  }
}
