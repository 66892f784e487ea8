import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** A request without the fields that shall have their defaults, at any depth. */
export type Asked<Request> = Request extends Uint8Array
  ? Request
  : Request extends readonly (infer Entry)[]
    ? readonly Asked<Entry>[]
    : Request extends object
      ? { readonly [Field in keyof Request]?: Asked<Request[Field]> | undefined }
      : Request;

const PROTOS = fileURLToPath(new URL('../proto', import.meta.url));
const SHAPE = { longs: Number, enums: String, defaults: true, includeDirs: [PROTOS] };

let loaded: grpc.GrpcObject | undefined;

/** Read with the first client. */
function definitions(): grpc.GrpcObject {
  if (loaded !== undefined) return loaded;
  const files = readdirSync(PROTOS, { recursive: true, encoding: 'utf8' });
  const protos = files.filter((file) => file.endsWith('.proto'));
  loaded = grpc.loadPackageDefinition(loadSync(protos, SHAPE));
  return loaded;
}

/** A member of answers that is not there is null for the decoder, and undefined by the types. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    const isPlain = typeof value[0] !== 'object';
    return isPlain ? value : value.map(withoutNulls);
  }
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  const there = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(there.map(([name, member]) => [name, withoutNulls(member)]));
}

/** One service, called once and as it is: rejects with errors of gRPC itself. */
export class Stub {
  private readonly client: grpc.Client & Readonly<Record<string, unknown>>;

  /** @param service full name, `tessera.recall.v1.RecallService` */
  constructor(
    service: string,
    address: string,
    credentials: grpc.ChannelCredentials,
    options: grpc.ClientOptions,
  ) {
    let found: unknown = definitions();
    for (const name of service.split('.')) found = (found as Record<string, unknown>)[name];
    const Service = found as grpc.ServiceClientConstructor;
    this.client = new Service(address, credentials, options) as never;
  }

  call<Answer>(
    method: string,
    request: object,
    metadata: grpc.Metadata,
    options: grpc.CallOptions,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const done = (error: grpc.ServiceError | null, answer: unknown) =>
        error === null ? resolve(withoutNulls(answer) as Answer) : reject(error);
      const act = this.client[method] as (...words: unknown[]) => unknown;
      act.call(this.client, request, metadata, options, done);
    });
  }
}
