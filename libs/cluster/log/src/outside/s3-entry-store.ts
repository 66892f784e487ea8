import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  BucketClient,
  type BucketSettings,
  bucketFault,
  isAbsent,
  type ObjectPlace,
  type PutCondition,
  statusOf,
} from '@tessera/buckets';
import { TesseraError } from '@tessera/errors';
import { openRegular } from '@tessera/files';
import { checkEntryName } from '../domain/entry-name.js';
import type { EntryStore } from '../domain/entry-store.js';

/** Milliseconds without a byte, after which an operation is given up, beside where buckets are. */
export interface EntryStoreS3Settings extends BucketSettings {
  readonly timeoutMs: number;
  /** Bytes of a file that goes in one request; left out: what S3 takes. */
  readonly wholeBytesMax?: number;
}

type Body = Uint8Array | Readable;

/** Somebody has put the same name meanwhile, or is about to. */
const ALREADY_THERE: readonly unknown[] = [409, 412];
/** The store does not know the condition. */
const NOT_IMPLEMENTED = 501;

/** Objects below a prefix of one bucket. */
export class S3EntryStore implements EntryStore {
  private readonly client: BucketClient;

  /** @param prefix ends with a slash, or is empty */
  constructor(
    readonly place: string,
    private readonly bucket: string,
    private readonly prefix: string,
    private readonly settings: EntryStoreS3Settings,
  ) {
    const { timeoutMs, wholeBytesMax } = settings;
    this.client = new BucketClient(settings, timeoutMs, undefined, wholeBytesMax);
  }

  put(name: string, content: Uint8Array): Promise<void> {
    return this.putBody(name, content.length, () => content);
  }

  async putFile(name: string, path: string): Promise<void> {
    const file = await openRegular(path).catch((thrown: unknown) => {
      throw this.fault(thrown);
    });
    try {
      const { size } = await file.stat();
      const whole = (progress: Progress) => {
        const stream = file.createReadStream({ autoClose: false, start: 0 });
        return Readable.from(counted(stream, progress), { objectMode: false });
      };
      await this.putBody(name, size, whole);
    } finally {
      await file.close();
    }
  }

  async get(name: string): Promise<Uint8Array> {
    return this.act(name, async (place, progress) => {
      const { body } = await this.client.get(place, progress.signal);
      const parts: Uint8Array[] = [];
      for await (const part of body) {
        progress.moved();
        parts.push(part);
      }
      return Buffer.concat(parts);
    });
  }

  async getFile(name: string, path: string): Promise<void> {
    const partial = `${path}.${randomUUID()}`;
    try {
      await this.act(name, async (place, progress) => {
        const { body } = await this.client.get(place, progress.signal);
        const file = await open(partial, 'wx');
        try {
          for await (const part of body) {
            progress.moved();
            await file.writeFile(part);
          }
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(partial, path);
      });
    } finally {
      await rm(partial, { force: true });
    }
  }

  async list(prefix: string): Promise<readonly string[]> {
    return this.within(prefix, async ({ signal, moved }) => {
      const names: string[] = [];
      for (let from = ''; ; ) {
        const page = await this.client.keys(this.bucket, this.prefix + prefix, from, signal);
        moved();
        for (const key of page.keys) names.push(key.slice(this.prefix.length));
        from = page.next;
        if (from === '') return names.sort();
      }
    });
  }

  async remove(name: string): Promise<void> {
    await this.act(name, (place, { signal }) => this.client.remove(place, signal));
  }

  private async putBody(
    name: string,
    bytes: number,
    open: (progress: Progress) => Body,
  ): Promise<void> {
    await this.act(name, async (place, progress) => {
      const { signal } = progress;
      // Not every store knows the condition, and some take no notice of it.
      if (await this.isThere(place, signal)) return;
      const send = (condition: PutCondition) =>
        this.client.put(place, { bytes, content: open(progress) }, condition, signal);
      try {
        await send({ IfNoneMatch: '*' });
      } catch (thrown) {
        const status = statusOf(thrown);
        if (status === NOT_IMPLEMENTED) await send({});
        else if (!ALREADY_THERE.includes(status)) throw thrown;
        else if (!(await this.isThere(place, signal))) throw thrown;
      }
    });
  }

  private async isThere(place: ObjectPlace, signal: AbortSignal): Promise<boolean> {
    try {
      await this.client.head(place, signal);
      return true;
    } catch (thrown) {
      if (isAbsent(thrown)) return false;
      throw thrown;
    }
  }

  private async act<T>(
    name: string,
    act: (place: ObjectPlace, progress: Progress) => Promise<T>,
  ): Promise<T> {
    checkEntryName(this.place, name);
    const place = { bucket: this.bucket, key: this.prefix + name };
    return this.within(name, (progress) => act(place, progress));
  }

  private async within<T>(name: string, act: (progress: Progress) => Promise<T>): Promise<T> {
    const progress = new Progress(this.settings.timeoutMs);
    try {
      return await act(progress);
    } catch (thrown) {
      throw this.fault(thrown, name);
    } finally {
      progress.end();
    }
  }

  private fault(thrown: unknown, name = ''): TesseraError {
    if (!isAbsent(thrown)) return bucketFault(`${this.place}: ${name}`, thrown);
    const text = `${this.place}: expected ${name}, which is not there`;
    return new TesseraError('STORE_CORRUPT', text, { cause: thrown });
  }
}

/** An operation that goes on for as long as bytes come, however many they are. */
class Progress {
  private readonly stalled = new AbortController();
  private readonly timer: NodeJS.Timeout;
  readonly signal = this.stalled.signal;

  constructor(timeoutMs: number) {
    const stall = () => this.stalled.abort(new Error(`no byte within ${timeoutMs} ms`));
    this.timer = setTimeout(stall, timeoutMs);
  }

  readonly moved = (): void => {
    this.timer.refresh();
  };

  end(): void {
    clearTimeout(this.timer);
  }
}

async function* counted(parts: AsyncIterable<Uint8Array>, progress: Progress) {
  for await (const part of parts) {
    progress.moved();
    yield part;
  }
}
