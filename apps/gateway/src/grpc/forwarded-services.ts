import { createRequire } from 'node:module';
import type {
  handleUnaryCall,
  Metadata,
  Server,
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  StatusObject,
  sendUnaryData,
} from '@grpc/grpc-js';
import { protoSchema } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { loggedStatus } from '@tessera/grpc';
import type { Log } from '@tessera/telemetry';
import { type AdmittedCalls, classAt } from '../admitted-calls.js';
import type { Counted, TracedCall } from '../counted.js';
import { failureOf, isServiceError } from '../node-failure.js';
import { FORWARDED } from './forwarded-methods.js';
import { identity } from './hop-metadata.js';
import { grpcHop, type UnaryHop } from './unary-hop.js';

const protoLoader = createRequire(import.meta.url)(
  '@grpc/proto-loader',
) as typeof import('@grpc/proto-loader');

/** How calls of each form are answered; each rejects with a ServiceError or a TesseraError. */
export interface ForwardedCalls {
  unary(path: string, call: UnaryHop): Promise<Buffer>;
  send(path: string, call: ServerReadableStream<Buffer, Buffer>): Promise<Buffer>;
  stream(path: string, call: ServerWritableStream<Buffer, Buffer>): Promise<void>;
  converse(path: string, call: ServerDuplexStream<Buffer, Buffer>): Promise<void>;
}

/** The status of a node as it is; the gateway's own refusals by the one table. */
function statusOf(thrown: unknown, log: Pick<Log, 'error'>): StatusObject {
  if (!isServiceError(thrown)) return loggedStatus(thrown, log);
  const { code, details, metadata } = thrown;
  // The connection failed, which the status of a call cannot say in the one table's words.
  if (failureOf(thrown) === 'away') {
    return loggedStatus(new TesseraError('NODE_UNAVAILABLE', `node: ${details}`), log);
  }
  return { code, details, metadata };
}

/** Full names of the services that are forwarded. */
export function forwardedServices(): readonly string[] {
  return [...new Set([...FORWARDED.keys()].map((path) => path.split('/')[1] as string))];
}

/** Adds the nodes' services to a server; messages are passed on byte for byte. */
export function addForwarded(server: Pick<Server, 'addService'>, handling: Handling): void {
  const schema = protoLoader.fromJSON(protoSchema as Parameters<typeof protoLoader.fromJSON>[0]);
  for (const service of Object.values(schema)) {
    if ('format' in service) continue;
    const definition: Record<string, ServiceDefinition[string]> = {};
    const handlers: Record<string, handleUnaryCall<Buffer, Buffer>> = {};
    for (const [name, { path, requestStream, responseStream }] of Object.entries(service)) {
      if (!FORWARDED.has(path)) continue;
      definition[name] = {
        path,
        requestStream,
        responseStream,
        requestSerialize: identity,
        requestDeserialize: identity,
        responseSerialize: identity,
        responseDeserialize: identity,
      };
      handlers[name] = handlerOf(path, { requestStream, responseStream }, handling) as never;
    }
    server.addService(definition, handlers as never);
  }
}

interface Form {
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

interface Handling {
  readonly calls: ForwardedCalls;
  readonly admitted: Pick<AdmittedCalls, 'run'>;
  readonly count: Counted;
  readonly log: Pick<Log, 'error'>;
}

const tracedOf = ({ metadata }: { readonly metadata: Metadata }): TracedCall => ({
  header: (name) => metadata.get(name)[0]?.toString(),
  put: (headers) => {
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  },
});

function handlerOf(
  path: string,
  { requestStream, responseStream }: Form,
  { calls, admitted, count, log }: Handling,
): unknown {
  if (responseStream) {
    type Call = ServerDuplexStream<Buffer, Buffer> & ServerWritableStream<Buffer, Buffer>;
    const act = (call: Call) =>
      requestStream ? calls.converse(path, call) : calls.stream(path, call);
    return (call: Call) =>
      void count(path, tracedOf(call), () => act(call)).catch((thrown: unknown) => {
        // As grpc-js takes a handler's refusal; a stream that is destroyed sends no status.
        call.emit('error', statusOf(thrown, log));
      });
  }
  type Call = ServerUnaryCall<Buffer, Buffer> & ServerReadableStream<Buffer, Buffer>;
  const unary = (call: Call) => {
    const hop = grpcHop(path, call);
    const { deadlineMs, request } = hop;
    const asked = { deadlineMs, cls: classAt(path, request), isGone: () => call.cancelled };
    return admitted.run(path, asked, () => calls.unary(path, hop));
  };
  const act = (call: Call) => (requestStream ? calls.send(path, call) : unary(call));
  return (call: Call, done: sendUnaryData<Buffer>) =>
    void count(path, tracedOf(call), () => act(call)).then(
      (bytes) => done(null, bytes),
      (thrown: unknown) => done(statusOf(thrown, log)),
    );
}
