import type { StatusObject } from '@grpc/grpc-js';
import type { Credentials, Principal } from '@tessera/access';
import type { CallContext } from '../call-context.js';

/** Answers a message as the method's handler does; rejects with what the error filter knows. */
export type DirectHandler = (message: object, context: CallContext) => Promise<object>;

/** Unary methods whose calls need no more than this, by path `/package.Service/Method`. */
export type DirectHandlers = ReadonlyMap<string, DirectHandler>;

export interface DirectMethod {
  readonly path: string;
  readonly deserialize: (bytes: Buffer) => object;
  readonly serialize: (message: object) => Uint8Array;
  readonly handle: DirectHandler;
}

/** Parts that all connections share. */
export interface DirectServing {
  readonly methods: ReadonlyMap<string, DirectMethod>;
  readonly messageBytesMax: number;
  /** Milliseconds that a call lasts at most, its request included, whatever it asks for. */
  readonly deadlineMsMax: number;
  /** Calls at once of a connection. */
  readonly streamsMax: number;
  /** The caller. @throws TesseraError where they may not */
  readonly enter: (path: string, credentials: Credentials) => Principal;
  readonly statusOf: (thrown: unknown) => StatusObject;
  /** Of this process, for each answer; left out: it says none. */
  readonly loadClass?: (() => number) | undefined;
}
