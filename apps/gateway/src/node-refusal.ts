import { Metadata } from '@grpc/grpc-js';

const IN_BASE64 = '-bin';

/** What a node ended a call over gRPC with; as grpc-js has it. */
export class NodeRefusal extends Error {
  constructor(
    /** Status of gRPC. */
    readonly code: number,
    readonly details: string,
    readonly trailers: Readonly<Record<string, string>>,
  ) {
    super(details);
  }

  get metadata(): Metadata {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(this.trailers)) {
      metadata.set(name, name.endsWith(IN_BASE64) ? Buffer.from(value, 'base64') : value);
    }
    return metadata;
  }
}
