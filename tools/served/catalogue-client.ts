import { Readable, type Writable } from 'node:stream';
import * as grpc from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';
import { type Connection, PLAIN } from '@tessera/client';
import { protoSchema } from '@tessera/contracts';
import { grpcOptions } from './connection.js';

type Unary<Answer> = (
  message: object,
  metadata: grpc.Metadata,
  options: grpc.CallOptions,
  done: (error: grpc.ServiceError | null, answer: Answer) => void,
) => void;

type ClientStream<Answer> = (
  metadata: grpc.Metadata,
  options: grpc.CallOptions,
  done: (error: grpc.ServiceError | null, answer: Answer) => void,
) => Writable;

/** A promise and what settles it. */
function settled<Answer>() {
  let resolve: (answer: Answer) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<Answer>((onAnswer, onError) => {
    resolve = onAnswer;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/** A gRPC client of CatalogueService, as a caller in another process would make one. */
export class CatalogueClient {
  private readonly client: grpc.Client;
  private readonly metadata: grpc.Metadata;

  /** @param catalogue name of the catalogue that calls are about, '' for the first */
  constructor(
    address: string,
    private readonly catalogue = '',
    connection: Connection = PLAIN,
  ) {
    const schema = protoSchema as Parameters<typeof protoLoader.fromJSON>[0];
    const definition = protoLoader.fromJSON(schema, { defaults: true, longs: Number });
    const packages = grpc.loadPackageDefinition(definition) as never as {
      tessera: { catalogue: { v1: { CatalogueService: grpc.ServiceClientConstructor } } };
    };
    const { CatalogueService } = packages.tessera.catalogue.v1;
    const { credentials, headers } = grpcOptions(connection);
    this.metadata = grpc.Metadata.fromHttp2Headers(headers);
    this.client = new CatalogueService(address, credentials);
  }

  /** Rejects with the service's own words and the code of the error table. */
  call<Answer>(method: string, message: object, deadlineMs: number): Promise<Answer> {
    const methods = this.client as never as Record<string, Unary<Answer>>;
    return new Promise((resolve, reject) => {
      methods[method]?.call(
        this.client,
        { catalogue: this.catalogue, ...message },
        this.metadata,
        { deadline: Date.now() + deadlineMs },
        (error, answer) => (error ? reject(error) : resolve(answer)),
      );
    });
  }

  /** Messages to a method that answers their stream once. Rejects as call(). */
  async send<Answer>(
    method: string,
    messages: AsyncIterable<object> | Iterable<object>,
    deadlineMs: number,
  ): Promise<Answer> {
    const methods = this.client as never as Record<string, ClientStream<Answer>>;
    const open = methods[method] as ClientStream<Answer>;
    const { promise, resolve, reject } = settled<Answer>();
    const options = { deadline: Date.now() + deadlineMs };
    const call = open.call(this.client, this.metadata, options, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
    call.on('error', reject);
    const named = async function* (catalogue: string) {
      for await (const message of messages) yield { catalogue, ...message };
    };
    Readable.from(named(this.catalogue)).on('error', reject).pipe(call);
    return promise;
  }

  /** Rejects as call(). */
  stream<Answer>(method: string, message: object, deadlineMs: number): AsyncIterable<Answer> {
    const methods = this.client as never as Record<
      string,
      (message: object, metadata: grpc.Metadata, options: grpc.CallOptions) => AsyncIterable<Answer>
    >;
    const call = methods[method] as (typeof methods)[string];
    return call.call(this.client, { catalogue: this.catalogue, ...message }, this.metadata, {
      deadline: Date.now() + deadlineMs,
    });
  }

  close(): void {
    this.client.close();
  }
}
