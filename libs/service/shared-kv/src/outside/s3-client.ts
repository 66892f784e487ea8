import type { Readable } from 'node:stream';
import type * as Sdk from '@aws-sdk/client-s3';
import { TesseraError } from '@tessera/errors';

/** As `adapters.s3*` of the configuration has them. */
export interface StoreS3Settings {
  /** Empty: that of AWS in the region. */
  readonly endpoint: string;
  readonly region: string;
  /** The bucket is in the path of its URL, not in the name of the host. */
  readonly isPathStyle: boolean;
}

/** State of an object in which it may be put or removed; left out: any. */
export interface ObjectCondition {
  /** ETag that it has; '': it is not there. */
  readonly revision: string;
}

export interface FoundObject {
  readonly bytes: Buffer;
  readonly revision: string;
}

const NOT_FOUND = 404;
const NOT_IMPLEMENTED = 501;
const INSUFFICIENT_STORAGE = 507;
/** The object is another one, is not there, or somebody else is about to put it. */
const CHANGED: readonly unknown[] = [404, 409, 412];
const ATTEMPTS = 3;
/** An ETag that no object has. */
const NO_REVISION = '"00000000000000000000000000000000"';

/** Objects of one bucket, with conditions also where the store has none. */
export class S3Objects {
  private opened: Promise<{ sdk: typeof Sdk; client: Sdk.S3Client }> | undefined;
  private conditions: Promise<boolean> | undefined;
  /** Bytes of objects, and answers. */
  arrived = 0;

  /**
   * @param place for messages
   * @param probeKey of an object that shows whether the store knows conditions
   */
  constructor(
    private readonly place: string,
    private readonly bucket: string,
    private readonly probeKey: string,
    private readonly settings: StoreS3Settings,
    private readonly timeoutMs: number,
  ) {}

  async get(key: string): Promise<FoundObject | undefined> {
    return this.act(async ({ sdk, client }, abortSignal) => {
      try {
        const asked = new sdk.GetObjectCommand({ Bucket: this.bucket, Key: key });
        const { Body, ETag = '' } = await client.send(asked, { abortSignal });
        const parts: Uint8Array[] = [];
        this.arrived += 1;
        for await (const part of Body as Readable) {
          parts.push(part);
          this.arrived += (part as Uint8Array).length;
        }
        return { bytes: Buffer.concat(parts), revision: ETag };
      } catch (thrown) {
        if (isAbsent(thrown)) return undefined;
        throw thrown;
      }
    });
  }

  /** Its new revision; undefined: the object is not what the condition wants, nothing was put. */
  async put(key: string, bytes: Uint8Array, must?: ObjectCondition): Promise<string | undefined> {
    if (must === undefined) return this.send(key, bytes, {});
    if (!(await this.knowsConditions())) {
      return (await this.holds(key, must)) ? this.send(key, bytes, {}) : undefined;
    }
    const { revision } = must;
    const condition = revision === '' ? { IfNoneMatch: '*' } : { IfMatch: revision };
    try {
      return await this.send(key, bytes, condition);
    } catch (thrown) {
      if (CHANGED.includes(causedStatus(thrown)) && !isBucketAbsent(thrown)) return undefined;
      throw thrown;
    }
  }

  /** Does nothing where the object is not there, or not what the condition wants. */
  async remove(key: string, must?: ObjectCondition): Promise<void> {
    if (must !== undefined && !(await this.holds(key, must))) return;
    await this.act(async ({ sdk, client }, abortSignal) => {
      const command = new sdk.DeleteObjectCommand({ Bucket: this.bucket, Key: key });
      await client.send(command, { abortSignal });
    });
  }

  async *keysBelow(prefix: string): AsyncGenerator<readonly string[]> {
    let from: string | undefined;
    do {
      const start = from;
      const page = await this.act(async ({ sdk, client }, abortSignal) => {
        const wanted = { Bucket: this.bucket, Prefix: prefix, ContinuationToken: start };
        return client.send(new sdk.ListObjectsV2Command(wanted), { abortSignal });
      });
      yield (page.Contents ?? []).map(({ Key = '' }) => Key);
      from = page.NextContinuationToken;
    } while (from !== undefined);
  }

  async close(): Promise<void> {
    const { opened } = this;
    if (opened !== undefined) (await opened).client.destroy();
  }

  private async send(key: string, bytes: Uint8Array, condition: object): Promise<string> {
    return this.act(async ({ sdk, client }, abortSignal) => {
      const wanted = { Bucket: this.bucket, Key: key, ContentLength: bytes.length, ...condition };
      const command = new sdk.PutObjectCommand({ ...wanted, Body: bytes });
      const { ETag = '' } = await client.send(command, { abortSignal });
      return ETag;
    });
  }

  private async holds(key: string, { revision }: ObjectCondition): Promise<boolean> {
    const there = await this.act(async ({ sdk, client }, abortSignal) => {
      try {
        const asked = new sdk.HeadObjectCommand({ Bucket: this.bucket, Key: key });
        const { ETag = '' } = await client.send(asked, { abortSignal });
        return ETag;
      } catch (thrown) {
        if (isAbsent(thrown)) return '';
        throw thrown;
      }
    });
    return there === revision;
  }

  /** Some stores refuse a condition, others take no notice of it. */
  private knowsConditions(): Promise<boolean> {
    this.conditions ??= this.probe().catch((thrown) => {
      this.conditions = undefined;
      throw thrown;
    });
    return this.conditions;
  }

  private async probe(): Promise<boolean> {
    const bytes = new Uint8Array([1]);
    await this.send(this.probeKey, bytes, {});
    try {
      await this.send(this.probeKey, bytes, { IfMatch: NO_REVISION });
      return false;
    } catch (thrown) {
      const status = causedStatus(thrown);
      if (status === NOT_IMPLEMENTED) return false;
      if (CHANGED.includes(status)) return true;
      throw thrown;
    }
  }

  private async act<T>(
    act: (parts: { sdk: typeof Sdk; client: Sdk.S3Client }, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    try {
      // Loaded with the first operation: it takes a quarter of a second.
      this.opened ??= openClient(this.settings, this.timeoutMs);
      return await act(await this.opened, AbortSignal.timeout(this.timeoutMs));
    } catch (thrown) {
      throw this.fault(thrown);
    }
  }

  private fault(thrown: unknown): TesseraError {
    const { name, message, code } = thrown as NodeJS.ErrnoException;
    const status = statusOf(thrown);
    const isFull = status === INSUFFICIENT_STORAGE || code === 'ENOSPC';
    const numbered = status === undefined ? '' : ` (${status})`;
    const text = `${this.place}: ${name}, ${message}${numbered}`;
    return new TesseraError(isFull ? 'STORE_FULL' : 'STORE_UNAVAILABLE', text, { cause: thrown });
  }
}

const statusOf = (thrown: unknown) =>
  (thrown as Partial<Sdk.S3ServiceException>).$metadata?.httpStatusCode;
const causedStatus = (thrown: unknown) => statusOf((thrown as Error).cause);
const isBucketAbsent = (thrown: unknown) =>
  ((thrown as Error).cause as Error).name === 'NoSuchBucket';
const isAbsent = (thrown: unknown) =>
  statusOf(thrown) === NOT_FOUND && (thrown as Error).name !== 'NoSuchBucket';

async function openClient(settings: StoreS3Settings, timeoutMs: number) {
  const { endpoint, region, isPathStyle } = settings;
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
