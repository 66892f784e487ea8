import { type Connection, PLAIN, ServiceClient } from '@tessera/client';
import type { WireServices } from '@tessera/contracts';
import { grpcOptions } from './connection.js';

const SERVICE = 'tessera.catalogue.v1.CatalogueService';
export type CatalogueMethod = keyof WireServices[typeof SERVICE];

/** A gRPC client of CatalogueService, as a caller in another process would make one. */
export class CatalogueClient {
  private readonly client: ServiceClient<typeof SERVICE>;

  /** @param catalogue name of the catalogue that calls are about, '' for the first */
  constructor(
    address: string,
    private readonly catalogue = '',
    connection: Connection = PLAIN,
  ) {
    const { credentials, headers } = grpcOptions(connection);
    this.client = new ServiceClient(SERVICE, address, { credentials, headers: () => headers });
  }

  /** Rejects with the service's own words and the code of the error table. */
  call<Answer>(method: CatalogueMethod, message: object, deadlineMs: number): Promise<Answer> {
    const options = { deadline: Date.now() + deadlineMs };
    const request = { catalogue: this.catalogue, ...message };
    return this.client.call(method, request, options) as Promise<Answer>;
  }

  /** Messages to a method that answers their stream once. Rejects as call(). */
  send<Answer>(
    method: CatalogueMethod,
    messages: AsyncIterable<object> | Iterable<object>,
    deadlineMs: number,
  ): Promise<Answer> {
    const named = async function* (catalogue: string) {
      for await (const message of messages) yield { catalogue, ...message };
    };
    const options = { deadline: Date.now() + deadlineMs };
    return this.client.send(method, named(this.catalogue), options) as Promise<Answer>;
  }

  /** Rejects as call(). */
  stream<Answer>(
    method: CatalogueMethod,
    message: object,
    deadlineMs: number,
  ): AsyncIterable<Answer> {
    const options = { deadline: Date.now() + deadlineMs };
    const request = { catalogue: this.catalogue, ...message };
    return this.client.stream(method, request, options) as AsyncIterable<Answer>;
  }

  close(): void {
    this.client.close();
  }
}
