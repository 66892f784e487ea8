import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { temporaryFolder } from './temporary-folder.js';

/** The used part of s3rver (github.com/jamhall/s3rver), which has no types of its own. */
interface S3rver {
  /** Middleware of Koa: each handles a request before those after it. */
  readonly middleware: ((ctx: S3Context, next: () => Promise<void>) => Promise<void>)[];
  readonly store: S3Files;
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}
interface S3Object {
  readonly bucket: string;
  readonly key: string;
  readonly content: AsyncIterable<Uint8Array> | Uint8Array;
  readonly metadata: object;
}
interface S3Files {
  getMetadata(bucket: string, key: string): Promise<{ readonly etag: string }>;
  getResourcePath(bucket: string, key: string, resource: string): string;
  putMetadata(bucket: string, key: string, metadata: object, md5: string): Promise<void>;
  putObject(object: S3Object): Promise<{ readonly size: number; readonly md5: string }>;
  deleteObject(bucket: string, key: string): Promise<void>;
}
interface S3Context {
  readonly method: string;
  /** `/BUCKET/KEY`. */
  readonly path: string;
  readonly store: S3Files;
  get(header: string): string;
  status: number;
  body: unknown;
}
type S3rverClass = new (options: object) => S3rver;

export interface S3Server {
  readonly url: string;
  put(key: string, content: Uint8Array): Promise<void>;
  /** All keys below a prefix. */
  keys(prefix: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** The one account that it knows, as variables of the environment. */
export const S3_CREDENTIALS = {
  AWS_ACCESS_KEY_ID: 'S3RVER',
  AWS_SECRET_ACCESS_KEY: 'S3RVER',
} as const;

const PRECONDITION_FAILED = 412;

/** S3rver answers before a file is there, and removes folders in which others begin one. */
function writeBeforeAnswering(store: S3Files): void {
  store.putObject = async ({ bucket, key, content, metadata }) => {
    const parts: Uint8Array[] = [];
    if (content instanceof Uint8Array) parts.push(content);
    else for await (const part of content) parts.push(part);
    const bytes = Buffer.concat(parts);
    const path = store.getResourcePath(bucket, key, 'object');
    await mkdir(dirname(path), { recursive: true });
    // A reader that is at work goes on with the old object.
    const written = `${path}.${randomUUID()}`;
    await writeFile(written, bytes);
    await rename(written, path);
    const md5 = createHash('md5').update(bytes).digest('hex');
    await store.putMetadata(bucket, key, metadata, md5);
    return { size: bytes.length, md5 };
  };
  store.deleteObject = async (bucket, key) => {
    for (const resource of ['object', 'object.md5', 'metadata.json']) {
      await rm(store.getResourcePath(bucket, key, resource), { force: true });
    }
  };
}

/**
 * S3rver takes no notice of conditions on writes: here they hold. Of one key one thing is done at a
 * time, as it shows files that it is writing.
 */
function conditionalWrites() {
  const last = new Map<string, Promise<void>>();
  const isRefused = async (ctx: S3Context) => {
    const { path, store } = ctx;
    const [, bucket = '', ...words] = decodeURIComponent(path).split('/');
    const found = await store.getMetadata(bucket, words.join('/')).catch(() => undefined);
    const tag = found?.etag ?? '';
    const match = ctx.get('if-match');
    if (match !== '') return match !== tag;
    return ctx.get('if-none-match') === '*' && tag !== '';
  };
  return async (ctx: S3Context, next: () => Promise<void>) => {
    const act = async () => {
      if (ctx.method !== 'GET' && (await isRefused(ctx))) {
        ctx.status = PRECONDITION_FAILED;
        ctx.body = '<Error><Code>PreconditionFailed</Code></Error>';
      } else await next();
    };
    const turn = (last.get(ctx.path) ?? Promise.resolve()).then(act);
    const settled = turn.catch(() => undefined);
    last.set(ctx.path, settled);
    await turn;
    if (last.get(ctx.path) === settled) last.delete(ctx.path);
  };
}

/**
 * A store with one bucket, on a free port.
 * @param kind `plain`: it takes no notice of conditions on writes, as older stores
 */
export async function startS3Server(
  bucket: string,
  kind: 'conditional' | 'plain' = 'conditional',
): Promise<S3Server> {
  const load = createRequire(import.meta.url);
  const Server = load('s3rver') as S3rverClass;
  const sdk = await import('@aws-sdk/client-s3');
  const folder = temporaryFolder({});
  const server = new Server({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder.path,
    configureBuckets: [{ name: bucket }],
  });
  writeBeforeAnswering(server.store);
  if (kind === 'conditional') server.middleware.unshift(conditionalWrites());
  const { port } = await server.run();
  const url = `http://127.0.0.1:${port}`;
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = S3_CREDENTIALS;
  const client = new sdk.S3Client({
    endpoint: url,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY },
  });
  return {
    url,
    put: async (key, content) => {
      await client.send(new sdk.PutObjectCommand({ Bucket: bucket, Key: key, Body: content }));
    },
    keys: async (prefix) => {
      const keys: string[] = [];
      const wanted = { Bucket: bucket, Prefix: prefix };
      for await (const page of sdk.paginateListObjectsV2({ client }, wanted)) {
        for (const { Key = '' } of page.Contents ?? []) keys.push(Key);
      }
      return keys;
    },
    stop: async () => {
      client.destroy();
      await server.close();
      folder.remove();
    },
  };
}
