import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type * as grpc from '@grpc/grpc-js';
import { filesFound, hashOf } from '@tessera/adapter';
import { ServiceClient, tokenHeaders } from '@tessera/client';

/** Well below the smallest limit of a message. */
const CHUNK_BYTES = 1 << 18;

export interface PushedFolder {
  readonly name: string;
  readonly baseModel: string;
  readonly remark?: string;
  readonly holder?: string;
  readonly leaseSeconds?: number;
}

/** Services of this client, by package. */
const SERVICES = {
  adapter: 'tessera.adapter.v1.AdapterService',
  weights: 'tessera.weights.v1.WeightsService',
} as const;

/** A gRPC client of adapters or of whole weights, as a caller in another process would make one. */
export class AdapterClient {
  // Both have methods of the callers' choice.
  private readonly client: ServiceClient<typeof SERVICES.adapter>;

  /** @param token '' for none */
  constructor(
    address: string,
    token = '',
    credentials?: grpc.ChannelCredentials,
    of: keyof typeof SERVICES = 'adapter',
  ) {
    const headers = () => tokenHeaders({ token });
    const options = { headers, enums: 'names' as const, ...(credentials && { credentials }) };
    this.client = new ServiceClient(SERVICES[of] as typeof SERVICES.adapter, address, options);
  }

  /** Rejects with the service's own words and the code of the error table. */
  call<Answer>(method: string, message: object, deadlineMs: number): Promise<Answer> {
    const options = { deadline: Date.now() + deadlineMs };
    return this.client.call(
      method as 'Get',
      message,
      options,
    ) as Promise<unknown> as Promise<Answer>;
  }

  /** Parts of a push as they are. Rejects as call(). */
  pushParts<Answer>(
    parts: AsyncIterable<object> | Iterable<object>,
    deadlineMs: number,
  ): Promise<Answer> {
    const options = { deadline: Date.now() + deadlineMs };
    return this.client.send('Push', parts, options) as Promise<unknown> as Promise<Answer>;
  }

  /** A version's folder. Rejects as call(), with ADAPTER_NOT_FOUND where a file is missing. */
  async pushFolder<Answer>(
    folder: string,
    { name, baseModel, remark = '', holder = '', leaseSeconds = 0 }: PushedFolder,
    deadlineMs: number,
    onProgress: (bytes: number, total: number) => void = () => undefined,
  ): Promise<Answer> {
    const files = await filesFound((file) => hashOf(join(folder, file)));
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const parts = async function* () {
      yield { header: { name, baseModel, files, remark, holder, leaseSeconds } };
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
}
