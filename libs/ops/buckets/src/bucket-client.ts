import type { Readable } from 'node:stream';
import type * as Sdk from '@aws-sdk/client-s3';
import { TesseraError } from '@tessera/errors';

/** Place of the buckets. */
export interface BucketSettings {
  /** Empty: that of AWS in the region. */
  readonly endpoint: string;
  readonly region: string;
  /** The bucket is in the path of its URL, not in the name of the host. */
  readonly isPathStyle: boolean;
}

export interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
}

/** State in which an object may be put, as the headers of S3 say it. */
export interface PutCondition {
  readonly IfMatch?: string;
  readonly IfNoneMatch?: '*';
}

const ATTEMPTS = 3;
/** Bytes of an object that goes in one request; S3 takes 5 GiB, and larger ones in parts. */
const WHOLE_BYTES_MAX = 2 ** 32;
/** Bytes of a part at least, which is in memory while it goes, and parts of an object at most. */
const PART_BYTES_MIN = 2 ** 24;
const PARTS_MAX = 10_000;
const NOT_FOUND = 404;
const INSUFFICIENT_STORAGE = 507;

/** Operations of buckets; they reject as the SDK does: see statusOf() and bucketFault(). */
export class BucketClient {
  private opened: Promise<{ readonly sdk: typeof Sdk; readonly client: Sdk.S3Client }> | undefined;

  /**
   * @param connectMs in which a connection is made
   * @param attempts of one operation
   * @param wholeBytesMax of an object that goes in one request
   */
  constructor(
    private readonly settings: BucketSettings,
    private readonly connectMs: number,
    private readonly attempts = ATTEMPTS,
    private readonly wholeBytesMax = WHOLE_BYTES_MAX,
  ) {}

  async head({ bucket, key }: ObjectPlace, signal: AbortSignal) {
    const { sdk, client } = await this.open();
    const asked = new sdk.HeadObjectCommand({ Bucket: bucket, Key: key });
    const { ContentLength: bytes, ETag: etag } = await client.send(asked, { abortSignal: signal });
    return { bytes, etag };
  }

  /** @param etag that it has to have; left out: any */
  async get({ bucket, key }: ObjectPlace, signal: AbortSignal, etag?: string) {
    const { sdk, client } = await this.open();
    const wanted = { Bucket: bucket, Key: key, ...(etag === undefined ? {} : { IfMatch: etag }) };
    const asked = new sdk.GetObjectCommand(wanted);
    const { Body, ETag = '' } = await client.send(asked, { abortSignal: signal });
    return { body: Body as Readable & AsyncIterable<Uint8Array>, etag: ETag };
  }

  /** @returns its ETag */
  async put(
    { bucket, key }: ObjectPlace,
    body: { readonly bytes: number; readonly content: Uint8Array | Readable },
    condition: PutCondition,
    signal: AbortSignal,
  ): Promise<string> {
    const { sdk, client } = await this.open();
    if (body.bytes > this.wholeBytesMax) {
      const params = { Bucket: bucket, Key: key, Body: body.content, ...condition };
      return putInParts({ client, params }, body.bytes, signal);
    }
    const wanted = { Bucket: bucket, Key: key, ContentLength: body.bytes, ...condition };
    const asked = new sdk.PutObjectCommand({ ...wanted, Body: body.content });
    const { ETag = '' } = await client.send(asked, { abortSignal: signal });
    return ETag;
  }

  async remove({ bucket, key }: ObjectPlace, signal: AbortSignal): Promise<void> {
    const { sdk, client } = await this.open();
    const asked = new sdk.DeleteObjectCommand({ Bucket: bucket, Key: key });
    await client.send(asked, { abortSignal: signal });
  }

  /** A page of the keys that begin with the prefix. @param from the page's, '': the first */
  async keys(bucket: string, prefix: string, from: string, signal: AbortSignal) {
    const { sdk, client } = await this.open();
    const page = from === '' ? {} : { ContinuationToken: from };
    const asked = new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ...page });
    const found = await client.send(asked, { abortSignal: signal });
    const keys = (found.Contents ?? []).map(({ Key = '' }) => Key);
    return { keys, next: found.NextContinuationToken ?? '' };
  }

  async close(): Promise<void> {
    if (this.opened !== undefined) (await this.opened).client.destroy();
  }

  /** Loaded with the first operation: it takes a quarter of a second. */
  private open() {
    this.opened ??= openClient(this.settings, this.connectMs, this.attempts);
    return this.opened;
  }
}

/** Puts one part after another; a failure removes them. Resolves with the ETag. */
async function putInParts(
  { client, params }: { readonly client: Sdk.S3Client; readonly params: Sdk.PutObjectCommandInput },
  bytes: number,
  signal: AbortSignal,
): Promise<string> {
  const { Upload } = await import('@aws-sdk/lib-storage');
  const partSize = Math.max(PART_BYTES_MIN, Math.ceil(bytes / PARTS_MAX));
  const upload = new Upload({ client, params, partSize, queueSize: 1 });
  const abort = () => void upload.abort().catch(() => undefined);
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (signal.aborted) throw signal.reason;
    const { ETag = '' } = await upload.done();
    return ETag;
  } catch (thrown) {
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function openClient(settings: BucketSettings, connectMs: number, attempts: number) {
  const { endpoint, region, isPathStyle } = settings;
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    ...(endpoint === '' ? {} : { endpoint }),
    region,
    forcePathStyle: isPathStyle,
    maxAttempts: attempts,
    requestHandler: { connectionTimeout: connectMs },
    // Not every store knows other checksums than those that it asks for.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return { sdk, client };
}

/** HTTP status of an answer; undefined: there was none. */
export const statusOf = (thrown: unknown): number | undefined =>
  (thrown as Partial<Sdk.S3ServiceException> | undefined)?.$metadata?.httpStatusCode;

/** True where an object is absent; an absent bucket is another fault. */
export const isAbsent = (thrown: unknown): boolean =>
  statusOf(thrown) === NOT_FOUND && (thrown as Error).name !== 'NoSuchBucket';

/** STORE_FULL where the store has no room, otherwise STORE_UNAVAILABLE. */
export function bucketFault(place: string, thrown: unknown): TesseraError {
  const { name, message, code } = thrown as NodeJS.ErrnoException;
  const status = statusOf(thrown);
  const isFull = status === INSUFFICIENT_STORAGE || code === 'ENOSPC';
  const numbered = status === undefined ? '' : ` (${status})`;
  const text = `${place}: ${name}, ${message}${numbered}`;
  return new TesseraError(isFull ? 'STORE_FULL' : 'STORE_UNAVAILABLE', text, { cause: thrown });
}
