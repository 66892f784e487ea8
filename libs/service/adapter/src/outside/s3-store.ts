import { addAbortSignal } from 'node:stream';
import { BucketClient, type BucketSettings, statusOf } from '@tessera/buckets';
import { TesseraError } from '@tessera/errors';
import { invalid } from '../domain/adapter-version.js';

export interface S3Settings extends BucketSettings {
  /** Announcements may name no other. */
  readonly buckets: readonly string[];
  /** Milliseconds of one attempt at fetching a version at most. */
  readonly timeoutMs: number;
}

/** An object as it was when it was looked at. */
export interface S3Object {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string | undefined;
}

/** A folder of a bucket. */
export interface S3Folder {
  readonly bucket: string;
  readonly prefix: string;
}

const SCHEME = 's3://';
/** Maximum bytes of an S3 key (Amazon S3 User Guide, "Naming Amazon S3 objects"). */
const KEY_BYTES_MAX = 1024;
const NOT_MODIFIED_SINCE = 412;
const TOO_MANY = 429;

export function isS3Location(location: string): boolean {
  return location.startsWith(SCHEME);
}

function isPlain(part: string): boolean {
  if (part === '' || part === '.' || part === '..') return false;
  return [...part].every((character) => character >= ' ' && character !== '\u007f');
}

/** The one store that announced versions are fetched from. */
export class S3Store {
  private readonly client: BucketClient;

  constructor(readonly settings: S3Settings) {
    // Attempts are counted where an announcement is given up.
    this.client = new BucketClient(settings, settings.timeoutMs, 1);
  }

  /** @throws TesseraError ADAPTER_INVALID */
  folderOf(location: string): S3Folder {
    const [bucket = '', ...parts] = location.slice(SCHEME.length).replace(/\/$/, '').split('/');
    if (!this.settings.buckets.includes(bucket)) {
      const allowed = this.settings.buckets.join(' or ');
      throw invalid('location', `the bucket ${allowed} (adapters.s3Buckets)`, `'${bucket}'`);
    }
    const prefix = parts.map((part) => `${part}/`).join('');
    if (!parts.every(isPlain) || Buffer.byteLength(location) > KEY_BYTES_MAX) {
      const bound = `at most ${KEY_BYTES_MAX} bytes`;
      const expected = `s3://BUCKET/PREFIX/ of ${bound}, no part empty or dots`;
      throw invalid('location', expected, `'${location}'`);
    }
    return { bucket, prefix };
  }

  /** Rejects with ADAPTER_NOT_FOUND, ADAPTER_INVALID, ADAPTER_SOURCE_DENIED, _UNAVAILABLE. */
  async look({ bucket, prefix }: S3Folder, name: string, signal: AbortSignal): Promise<S3Object> {
    const key = prefix + name;
    const { bytes, etag } = await this.client.head({ bucket, key }, signal).catch((thrown) => {
      throw this.fault(bucket, key, thrown);
    });
    if (bytes !== undefined) return { key, bytes, etag };
    throw invalid(name, 'a store that tells the size of an object', 'none');
  }

  /** Its content, which is that which was looked at. Rejects as look() does. */
  async *read(
    { bucket }: S3Folder,
    { key, bytes, etag }: S3Object,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    let read = 0;
    try {
      const reply = await this.client.get({ bucket, key }, signal, etag);
      for await (const chunk of addAbortSignal(signal, reply.body)) {
        read += chunk.length;
        if (read > bytes) break;
        yield chunk;
      }
    } catch (thrown) {
      const after = read === 0 ? '' : ` after ${read} of ${bytes} bytes`;
      throw this.fault(bucket, key, thrown, after);
    }
    if (read === bytes) return;
    const got = read < bytes ? `${read} and then the end` : 'more';
    throw unavailable(`${key}: expected ${bytes} bytes, got ${got}`, undefined);
  }

  private fault(bucket: string, key: string, thrown: unknown, after = ''): TesseraError {
    const { name, message } = thrown as Error;
    const status = statusOf(thrown);
    const numbered = status === undefined ? '' : ` (${status})`;
    const answer = `${bucket}/${key}: ${name}, ${message}${numbered}`;
    const cause = thrown;
    if (name === 'CredentialsProviderError' || status === 401 || status === 403) {
      const text = `location: expected to be let in, got ${answer}`;
      return new TesseraError('ADAPTER_SOURCE_DENIED', text, { field: 'location', cause });
    }
    if (status === 404) {
      const text = `location: expected an object, got ${answer}`;
      return new TesseraError('ADAPTER_NOT_FOUND', text, { field: 'location', cause });
    }
    if (name === 'AbortError') {
      const text = `location: expected ${bucket}/${key} within ${this.settings.timeoutMs} ms`;
      return unavailable(text + after, cause);
    }
    const mayPass = status === undefined || status < 300 || status >= 500 || status === TOO_MANY;
    if (mayPass || status === NOT_MODIFIED_SINCE) {
      return unavailable(`the store of adapters, ${answer}${after}`, cause);
    }
    return invalid('location', 'what the store answers', answer);
  }
}

function unavailable(message: string, cause: unknown): TesseraError {
  return new TesseraError('ADAPTER_SOURCE_UNAVAILABLE', message, { field: 'location', cause });
}
