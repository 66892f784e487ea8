import { createHmac, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { FILE_SYSTEM, overwriteFile, wipeFile } from '@tessera/files';

/**
 * Keys of pseudonyms in a file of slots of one size, each overwritten in place:
 *
 *   page 0        magic, number of pages of slots (a power of two), secret of this file
 *   page 1, ...   128 slots of 32 bytes: a digest of the user ID with the secret, the day of the
 *                 last use (days since 1970), and the key; zeros where it is free
 *
 * A user's slot lies in the page that the digest's low bits name, anywhere in it. Where a page is
 * full the file is made anew with twice as many. No slot crosses a sector of a disk: a crash leaves
 * the old or the new one.
 */
const MAGIC = Buffer.from('tessera pseudonyms 2');
const PAGES_AT = 32;
const SECRET_AT = 64;
const SECRET_BYTES = 32;
const PAGE_BYTES = 4096;
const DIGEST_BYTES = 12;
const DAY_AT = DIGEST_BYTES;
const KEY_AT = 16;
export const KEY_BYTES = 16;
const SLOT_BYTES = KEY_AT + KEY_BYTES;
/** Pages that one call looks through for keys that nobody has used. */
const EXPIRED_PAGES = 4096;
const FREE = Buffer.alloc(SLOT_BYTES);
const PAGES_MAX = 2 ** 24;
const PARTIAL = '.partial';

interface Opened {
  readonly file: FileHandle;
  readonly pages: number;
  readonly secret: Buffer;
}

function headerOf({ pages, secret }: Omit<Opened, 'file'>): Buffer {
  const header = Buffer.alloc(PAGE_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(pages, PAGES_AT);
  secret.copy(header, SECRET_AT);
  return header;
}

function invalid(path: string, got: string): TesseraError {
  return new TesseraError('IO_FAILED', `${path}: expected keys of pseudonyms, got ${got}`);
}

async function readPage(file: FileHandle, page: number, path: string): Promise<Buffer> {
  const bytes = Buffer.alloc(PAGE_BYTES);
  const { bytesRead } = await file.read(bytes, 0, PAGE_BYTES, page * PAGE_BYTES);
  if (bytesRead < PAGE_BYTES) throw invalid(path, `a file that ends in page ${page}`);
  return bytes;
}

/** The place of a digest's slot in a page, or of a free one; -1: neither is there. */
function placeIn(page: Buffer, digest: Buffer): { own: number; free: number } {
  let free = -1;
  for (let at = 0; at < PAGE_BYTES; at += SLOT_BYTES) {
    const found = page.subarray(at, at + DIGEST_BYTES);
    if (found.equals(digest)) return { own: at, free };
    if (free < 0 && found.equals(FREE.subarray(0, DIGEST_BYTES))) free = at;
  }
  return { own: -1, free };
}

/** For one process, one call at a time. Rejects as the file system does, and with IO_FAILED. */
export class PseudonymKeys {
  /** Page from which on expired keys are looked for next. */
  private nextExpired = 1;

  private constructor(
    private readonly path: string,
    private opened: Opened,
  ) {}

  /** Opens the file, or makes it. A half-made file of a crash goes. */
  static async open(path: string): Promise<PseudonymKeys> {
    await mkdir(dirname(path), { recursive: true });
    await wipeFile(`${path}${PARTIAL}`);
    const file = await open(path, 'r+').catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOENT') return undefined;
      throw thrown;
    });
    if (file === undefined) {
      return new PseudonymKeys(path, await made(path, 1, randomBytes(SECRET_BYTES)));
    }
    try {
      const header = await readPage(file, 0, path);
      const pages = header.readUInt32LE(PAGES_AT);
      const magic = header.subarray(0, MAGIC.length);
      const isWhole = pages > 0 && (pages & (pages - 1)) === 0 && pages <= PAGES_MAX;
      if (!magic.equals(MAGIC) || !isWhole) throw invalid(path, 'another file');
      await readPage(file, pages, path);
      const secret = header.subarray(SECRET_AT, SECRET_AT + SECRET_BYTES);
      return new PseudonymKeys(path, { file, pages, secret });
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
  }

  /** Per user, in their order; undefined where there is none. */
  async find(userIds: readonly string[]): Promise<(Buffer | undefined)[]> {
    const pages = new Map<number, Buffer>();
    const found: (Buffer | undefined)[] = [];
    for (const userId of userIds) {
      const { digest, page } = await this.pageOf(userId, pages);
      const { own } = placeIn(page, digest);
      const key = page.subarray(own + KEY_AT, own + SLOT_BYTES);
      found.push(own < 0 ? undefined : Buffer.from(key));
    }
    return found;
  }

  /** Keys of users who have none, on disk when it resolves; who has one keeps it. Used on `day`. */
  async add(keys: ReadonlyMap<string, Buffer>, day: number): Promise<void> {
    let read = new Map<number, Buffer>();
    const changed = new Map<number, Buffer>();
    for (const [userId, key] of keys) {
      for (;;) {
        const { digest, page, number } = await this.pageOf(userId, read);
        const { own, free } = placeIn(page, digest);
        if (own < 0 && free >= 0) {
          digest.copy(page, free);
          key.copy(page, free + KEY_AT);
        }
        const at = own < 0 ? free : own;
        if (at >= 0) {
          if (page.readUInt32LE(at + DAY_AT) !== day) changed.set(number, page);
          page.writeUInt32LE(day, at + DAY_AT);
          break;
        }
        await this.write(changed);
        changed.clear();
        read = new Map();
        await this.grow();
      }
    }
    await this.write(changed);
  }

  /** No byte of the user's slot is left when it resolves. False: there was none. */
  async remove(userId: string): Promise<boolean> {
    const { file } = this.opened;
    const { digest, page, number } = await this.pageOf(userId, new Map());
    const { own } = placeIn(page, digest);
    if (own < 0) return false;
    await file.write(FREE, 0, SLOT_BYTES, number * PAGE_BYTES + own);
    await file.datasync();
    return true;
  }

  /**
   * Overwrites keys that were used last before that day: looks through some pages, and the next
   * call through those behind them.
   */
  async expire(before: number): Promise<void> {
    const { file, pages } = this.opened;
    const last = Math.min(pages, this.nextExpired + EXPIRED_PAGES - 1);
    const changed = new Map<number, Buffer>();
    for (let number = this.nextExpired; number <= last; number++) {
      const page = await readPage(file, number, this.path);
      for (let at = 0; at < PAGE_BYTES; at += SLOT_BYTES) {
        const isFree = page.subarray(at, at + SLOT_BYTES).equals(FREE);
        if (isFree || page.readUInt32LE(at + DAY_AT) >= before) continue;
        FREE.copy(page, at);
        changed.set(number, page);
      }
    }
    await this.write(changed);
    this.nextExpired = last < pages ? last + 1 : 1;
  }

  close(): Promise<void> {
    return this.opened.file.close();
  }

  /** @param read pages that have been read, also this one from now on */
  private async pageOf(userId: string, read: Map<number, Buffer>) {
    const { file, pages, secret } = this.opened;
    const hash = createHmac('sha256', secret).update(userId).digest();
    const digest = hash.subarray(0, DIGEST_BYTES);
    const number = 1 + (digest.readUInt32LE() & (pages - 1));
    const page = read.get(number) ?? (await readPage(file, number, this.path));
    read.set(number, page);
    return { digest, page, number };
  }

  private async write(pages: ReadonlyMap<number, Buffer>): Promise<void> {
    const { file } = this.opened;
    if (pages.size === 0) return;
    for (const [number, page] of pages) {
      await file.write(page, 0, PAGE_BYTES, number * PAGE_BYTES);
    }
    await file.datasync();
  }

  /** Each page becomes two, in a new file; the bytes of the old one are overwritten behind it. */
  private async grow(): Promise<void> {
    const { file, pages, secret } = this.opened;
    if (pages * 2 > PAGES_MAX) {
      throw new TesseraError('STORE_FULL', `${this.path}: expected at most ${PAGES_MAX} pages`);
    }
    this.opened = await made(this.path, pages * 2, secret, async (number) => {
      const page = await readPage(file, 1 + ((number - 1) & (pages - 1)), this.path);
      for (let at = 0; at < PAGE_BYTES; at += SLOT_BYTES) {
        const isHere = (page.readUInt32LE(at) & (pages * 2 - 1)) === number - 1;
        if (!isHere) FREE.copy(page, at);
      }
      return page;
    });
    await gone(file);
  }
}

/** No byte of a file that another one has replaced is left. */
async function gone(file: FileHandle): Promise<void> {
  try {
    await overwriteFile(file);
  } finally {
    await file.close();
  }
}

/** A file that is there whole or not at all, with the pages that are given or empty ones. */
async function made(
  path: string,
  pages: number,
  secret: Buffer,
  pageOf: (number: number) => Promise<Buffer> = async () => Buffer.alloc(PAGE_BYTES),
): Promise<Opened> {
  const partial = `${path}${PARTIAL}`;
  const file = await open(partial, 'w+', 0o600);
  try {
    await file.write(headerOf({ pages, secret }), 0, PAGE_BYTES, 0);
    for (let number = 1; number <= pages; number++) {
      await file.write(await pageOf(number), 0, PAGE_BYTES, number * PAGE_BYTES);
    }
    await file.sync();
    await rename(partial, path);
    await FILE_SYSTEM.syncFolder(dirname(path));
    return { file, pages, secret };
  } catch (thrown) {
    await file.close();
    await wipeFile(partial);
    throw thrown;
  }
}
