import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { temporaryFolder } from './temporary-folder.js';

/** The used part of s3rver (github.com/jamhall/s3rver), which has no types of its own. */
interface S3rver {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}
type S3rverClass = new (options: object) => S3rver;

export interface S3Server {
  readonly url: string;
  put(key: string, content: Uint8Array): Promise<void>;
  stop(): Promise<void>;
}

/** The one account that it knows, as variables of the environment. */
export const S3_CREDENTIALS = {
  AWS_ACCESS_KEY_ID: 'S3RVER',
  AWS_SECRET_ACCESS_KEY: 'S3RVER',
} as const;

/** A store with one bucket, on a free port. */
export async function startS3Server(bucket: string): Promise<S3Server> {
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
    stop: async () => {
      client.destroy();
      await server.close();
      folder.remove();
    },
  };
}
