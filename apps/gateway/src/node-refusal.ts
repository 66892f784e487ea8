import type { Metadata } from '@grpc/grpc-js';

/** The status with which a node ended a call over gRPC; as grpc-js has it. */
export class NodeRefusal extends Error {
  constructor(
    /** Status of gRPC. */
    readonly code: number,
    readonly details: string,
    readonly metadata: Metadata,
  ) {
    super(details);
  }
}
