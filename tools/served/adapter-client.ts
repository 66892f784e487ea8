import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import * as grpc from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';
import { ADAPTER_FILES, type AdapterFile, hashOf } from '@tessera/adapter';
import { protoSchema } from '@tessera/contracts';

/** Well below the smallest limit of a message. */
const CHUNK_BYTES = 1 << 18;

type Done<Answer> = (error: grpc.ServiceError | null, answer: Answer) => void;
type Unary<Answer> = (
  message: object,
  metadata: grpc.Metadata,
  options: grpc.CallOptions,
  done: Done<Answer>,
) => void;
type Push<Answer> = (
  metadata: grpc.Metadata,
  options: grpc.CallOptions,
  done: Done<Answer>,
) => Writable;

export interface PushedFolder {
  readonly name: string;
  readonly baseModel: string;
  readonly remark?: string;
}

/** Services of this client, by package. */
const SERVICES = { adapter: 'AdapterService', weights: 'WeightsService' } as const;

/** A gRPC client of adapters or of whole weights, as a caller in another process would make one. */
export class AdapterClient {
  private readonly client: grpc.Client;

  /** @param token '' for none */
  constructor(
    address: string,
    private readonly token = '',
    credentials = grpc.credentials.createInsecure(),
    of: keyof typeof SERVICES = 'adapter',
  ) {
    const schema = protoSchema as Parameters<typeof protoLoader.fromJSON>[0];
    const shape = { defaults: true, longs: Number, enums: String };
    const packages = grpc.loadPackageDefinition(protoLoader.fromJSON(schema, shape)) as never as {
      tessera: Record<string, { v1: Record<string, grpc.ServiceClientConstructor> }>;
    };
    const Service = packages.tessera[of]?.v1[SERVICES[of]] as grpc.ServiceClientConstructor;
    this.client = new Service(address, credentials);
  }

  /** Rejects with the service's own words and the code of the error table. */
  call<Answer>(method: string, message: object, deadlineMs: number): Promise<Answer> {
    const methods = this.client as never as Record<string, Unary<Answer>>;
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + deadlineMs };
      methods[method]?.call(this.client, message, this.metadata(), options, (error, answer) =>
        error ? reject(error) : resolve(answer),
      );
    });
  }

  /** Parts of a push as they are. Rejects as call(). */
  pushParts<Answer>(
    parts: AsyncIterable<object> | Iterable<object>,
    deadlineMs: number,
  ): Promise<Answer> {
    const { Push: open } = this.client as never as { Push: Push<Answer> };
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + deadlineMs };
      const source = Readable.from(parts);
      const call = open.call(this.client, this.metadata(), options, (error, answer) => {
        source.destroy();
        if (error) reject(error);
        else resolve(answer);
      });
      // The answer says what is wrong.
      call.on('error', () => undefined);
      source.on('error', reject).pipe(call);
    });
  }

  /** A PEFT folder. Rejects as call(), with ADAPTER_NOT_FOUND where a file is missing. */
  async pushFolder<Answer>(
    folder: string,
    { name, baseModel, remark = '' }: PushedFolder,
    deadlineMs: number,
    onProgress: (bytes: number, total: number) => void = () => undefined,
  ): Promise<Answer> {
    const files: AdapterFile[] = [];
    for (const file of ADAPTER_FILES)
      files.push({ name: file, ...(await hashOf(join(folder, file))) });
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const parts = async function* () {
      yield { header: { name, baseModel, files, remark } };
      let sent = 0;
      for (const file of files) {
        const content = createReadStream(join(folder, file.name), { highWaterMark: CHUNK_BYTES });
        for await (const data of content) {
          yield { chunk: { data } };
          sent += data.length;
          onProgress(sent, total);
        }
      }
      yield { end: {} };
    };
    return this.pushParts(parts(), deadlineMs);
  }

  close(): void {
    this.client.close();
  }

  private metadata(): grpc.Metadata {
    const metadata = new grpc.Metadata();
    if (this.token !== '') metadata.set('authorization', `Bearer ${this.token}`);
    return metadata;
  }
}
