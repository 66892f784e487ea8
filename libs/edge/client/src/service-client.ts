import { Readable, type Writable } from 'node:stream';
import * as grpc from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';
import { protoSchema, type WireServices } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';

export type ServiceName = keyof WireServices;

/** A request without the fields that shall have their defaults, at any depth. */
export type Asked<Request> = Request extends Uint8Array
  ? Request
  : Request extends readonly (infer Entry)[]
    ? readonly Asked<Entry>[]
    : Request extends object
      ? { readonly [Field in keyof Request]?: Asked<Request[Field]> | undefined }
      : Request;

type Method<Name extends ServiceName> = keyof WireServices[Name] & string;
type Of<Name extends ServiceName, Rpc extends Method<Name>> = WireServices[Name][Rpc] extends [
  infer Request,
  infer Answer,
]
  ? { readonly request: Asked<Request>; readonly answer: Answer }
  : never;

type Done<Answer> = (error: grpc.ServiceError | null, answer: Answer | undefined) => void;
type Stub = grpc.Client & Readonly<Record<string, (...parts: unknown[]) => unknown>>;

export interface ServiceClientOptions {
  /** Left out: without TLS. */
  readonly credentials?: grpc.ChannelCredentials;
  /** Metadata of each call. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Enumerations of answers: their numbers, as the types say, or the names of proto. */
  readonly enums?: 'numbers' | 'names';
  readonly channel?: grpc.ClientOptions;
}

/** One service of the schema, called once and as it is: no repetitions, errors of gRPC itself. */
export class ServiceClient<Name extends ServiceName> {
  private readonly stub: Stub;
  private readonly headers: NonNullable<ServiceClientOptions['headers']>;

  /** `address`: host:port. Nothing is connected before the first call. */
  constructor(
    name: Name,
    address: string,
    { credentials, headers, enums = 'numbers', channel = {} }: ServiceClientOptions = {},
  ) {
    const schema = protoSchema as Parameters<typeof protoLoader.fromJSON>[0];
    const shape = { defaults: true, longs: Number, enums: enums === 'names' ? String : Number };
    const service = protoLoader.fromJSON(schema, shape)[name];
    if (service === undefined || 'format' in service) {
      throw new TesseraError('INTERNAL', `expected a service of the schema, got ${name}`);
    }
    const Service = grpc.makeGenericClientConstructor(service, name);
    this.stub = new Service(
      address,
      credentials ?? grpc.credentials.createInsecure(),
      channel,
    ) as never;
    this.headers = headers ?? (() => ({}));
  }

  /** Rejects with the service's own words; `tessera-code` of the metadata is the code. */
  call<Rpc extends Method<Name>>(
    method: Rpc,
    request: Of<Name, Rpc>['request'],
    options: grpc.CallOptions = {},
  ): Promise<Of<Name, Rpc>['answer']> {
    return new Promise((resolve, reject) => {
      this.begin(method, request, options, (error, answer) =>
        error ? reject(error) : resolve(answer as Of<Name, Rpc>['answer']),
      );
    });
  }

  /** Calls as call() does, and returns what cancels it. */
  begin<Rpc extends Method<Name>>(
    method: Rpc,
    request: Of<Name, Rpc>['request'],
    options: grpc.CallOptions,
    done: Done<Of<Name, Rpc>['answer']>,
  ): grpc.ClientUnaryCall {
    const words = [request, this.metadata(), options, done];
    return this.stub[method]?.(...words) as grpc.ClientUnaryCall;
  }

  /** Messages to a method that answers their stream once. Rejects as call(). */
  send<Rpc extends Method<Name>>(
    method: Rpc,
    requests: AsyncIterable<object> | Iterable<object>,
    options: grpc.CallOptions = {},
  ): Promise<Of<Name, Rpc>['answer']> {
    return new Promise((resolve, reject) => {
      const source = Readable.from(requests);
      const done: Done<Of<Name, Rpc>['answer']> = (error, answer) => {
        source.destroy();
        if (error) reject(error);
        else resolve(answer as Of<Name, Rpc>['answer']);
      };
      const call = this.stub[method]?.(this.metadata(), options, done) as Writable;
      // The answer says what is wrong.
      call.on('error', () => undefined);
      source.on('error', reject).pipe(call);
    });
  }

  /** Answers of a method that streams them. */
  stream<Rpc extends Method<Name>>(
    method: Rpc,
    request: Of<Name, Rpc>['request'],
    options: grpc.CallOptions = {},
  ): AsyncIterable<Of<Name, Rpc>['answer']> {
    return this.stub[method]?.(request, this.metadata(), options) as never;
  }

  /** Calls a method whose messages and answers are streams. */
  converse<Rpc extends Method<Name>>(
    method: Rpc,
  ): grpc.ClientDuplexStream<Of<Name, Rpc>['request'], Of<Name, Rpc>['answer']> {
    return this.stub[method]?.(this.metadata()) as never;
  }

  close(): void {
    this.stub.close();
  }

  private metadata(): grpc.Metadata {
    const metadata = new grpc.Metadata();
    for (const [name, value] of Object.entries(this.headers())) metadata.set(name, value);
    return metadata;
  }
}
