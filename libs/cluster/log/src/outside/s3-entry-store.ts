import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type * as Sdk from '@aws-sdk/client-s3';
import { TesseraError } from '@tessera/errors';
import { openRegular } from '@tessera/files';
import { checkEntryName } from '../domain/entry-name.js';
import type { EntryStore } from '../domain/entry-store.js';

/** As `adapters.s3*` of the configuration has them. */
export interface EntryStoreS3Settings {
  /** Empty: that of AWS in the region. */
  readonly endpoint: string;
  readonly region: string;
  /** The bucket is in the path of its URL, not in the name of the host. */
  readonly isPathStyle: boolean;
  /** Milliseconds without a byte, after which an operation is given up. */
  readonly timeoutMs: number;
}

interface Client {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
}

type Body = Uint8Array | Readable;

const NOT_FOUND = 404;
/** Somebody has put the same name meanwhile, or is about to. */
const ALREADY_THERE: readonly unknown[] = [409, 412];
/** The store does not know the condition. */
const NOT_IMPLEMENTED = 501;
const INSUFFICIENT_STORAGE = 507;
const ATTEMPTS = 3;

/** Objects below a prefix of one bucket. */
export class S3EntryStore implements EntryStore {
  private client: Promise<Client> | undefined;

  /** @param prefix ends with a slash, or is empty */
  constructor(
    readonly place: string,
    private readonly bucket: string,
    private readonly prefix: string,
    private readonly settings: EntryStoreS3Settings,
  ) {}

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
    return this.act(name, async (key, progress) => {
      const body = await this.bodyOf(key, progress);
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
      await this.act(name, async (key, progress) => {
        const body = await this.bodyOf(key, progress);
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
    return this.within(prefix, async ({ signal: abortSignal, moved }) => {
      const { client, sdk } = await this.opened();
      const wanted = { Bucket: this.bucket, Prefix: this.prefix + prefix };
      const names: string[] = [];
      for (let ContinuationToken: string | undefined; ; ) {
        const command = new sdk.ListObjectsV2Command({ ...wanted, ContinuationToken });
        const page = await client.send(command, { abortSignal });
        moved();
        for (const { Key = '' } of page.Contents ?? []) names.push(Key.slice(this.prefix.length));
        ContinuationToken = page.NextContinuationToken;
        if (ContinuationToken === undefined) return names.sort();
      }
    });
  }

  async remove(name: string): Promise<void> {
    await this.act(name, async (key, { signal }) => {
      const { client, sdk } = await this.opened();
      const command = new sdk.DeleteObjectCommand({ Bucket: this.bucket, Key: key });
      await client.send(command, { abortSignal: signal });
    });
  }

  private async putBody(
    name: string,
    bytes: number,
    open: (progress: Progress) => Body,
  ): Promise<void> {
    await this.act(name, async (key, progress) => {
      const { signal } = progress;
      // Not every store knows the condition, and some take no notice of it.
      if (await this.isThere(key, signal)) return;
      const { client, sdk } = await this.opened();
      const send = async (condition: { readonly IfNoneMatch?: string }) => {
        const wanted = { Bucket: this.bucket, Key: key, ContentLength: bytes, ...condition };
        const command = new sdk.PutObjectCommand({ ...wanted, Body: open(progress) });
        await client.send(command, { abortSignal: signal });
      };
      try {
        await send({ IfNoneMatch: '*' });
      } catch (thrown) {
        const status = statusOf(thrown);
        if (status === NOT_IMPLEMENTED) await send({});
        else if (!ALREADY_THERE.includes(status)) throw thrown;
        else if (!(await this.isThere(key, signal))) throw thrown;
      }
    });
  }

  private async isThere(key: string, signal: AbortSignal): Promise<boolean> {
    const { client, sdk } = await this.opened();
    const command = new sdk.HeadObjectCommand({ Bucket: this.bucket, Key: key });
    try {
      await client.send(command, { abortSignal: signal });
      return true;
    } catch (thrown) {
      if (statusOf(thrown) === NOT_FOUND) return false;
      throw thrown;
    }
  }

  private async bodyOf(key: string, { signal }: Progress): Promise<AsyncIterable<Uint8Array>> {
    const { client, sdk } = await this.opened();
    const command = new sdk.GetObjectCommand({ Bucket: this.bucket, Key: key });
    const { Body } = await client.send(command, { abortSignal: signal });
    return Body as Readable;
  }

  private async act<T>(
    name: string,
    act: (key: string, progress: Progress) => Promise<T>,
  ): Promise<T> {
    checkEntryName(this.place, name);
    return this.within(name, (progress) => act(this.prefix + name, progress));
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
    const { name: kind, message } = thrown as Error;
    const status = statusOf(thrown);
    const cause = { cause: thrown };
    if (status === NOT_FOUND && kind !== 'NoSuchBucket') {
      const text = `${this.place}: expected ${name}, which is not there`;
      return new TesseraError('STORE_CORRUPT', text, cause);
    }
    const isFull = status === INSUFFICIENT_STORAGE || codeOf(thrown) === 'ENOSPC';
    const numbered = status === undefined ? '' : ` (${status})`;
    const text = `${this.place}: ${name}: ${kind}, ${message}${numbered}`;
    return new TesseraError(isFull ? 'STORE_FULL' : 'STORE_UNAVAILABLE', text, cause);
  }

  /** Loaded with the first operation: it takes a quarter of a second. */
  private opened(): Promise<Client> {
    this.client ??= openClient(this.settings);
    return this.client;
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

const codeOf = (thrown: unknown) => (thrown as NodeJS.ErrnoException).code;

function statusOf(thrown: unknown): number | undefined {
  return (thrown as Partial<Sdk.S3ServiceException>).$metadata?.httpStatusCode;
}

async function openClient(settings: EntryStoreS3Settings): Promise<Client> {
  const { endpoint, region, isPathStyle, timeoutMs } = settings;
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    ...(endpoint === '' ? {} : { endpoint }),
    region,
    forcePathStyle: isPathStyle,
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: timeoutMs },
    // Not every store knows other checksums than those that it asks for.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return { sdk, client };
}
