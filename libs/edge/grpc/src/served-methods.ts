import { setTimeout as pause } from 'node:timers/promises';
import type {
  Metadata,
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
  StatusObject,
  sendUnaryData,
} from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import type { ServerGrpc } from '@nestjs/microservices';
import type { EdgeAdmission } from '@tessera/admission';
import { Call, type CallLimits, type Handler, type Handlers } from '@tessera/call';
import { refusalPauseMs, TesseraError } from '@tessera/errors';
import { methodOf, type Queue } from '@tessera/methods';
import { carrierOf, type Log } from '@tessera/telemetry';
import { from, type Observable } from 'rxjs';
import { callerOf } from './call-interceptor.js';
import { refuseMalformed } from './malformed.js';
import { paced } from './paced-stream.js';
import { loggedStatus } from './status.js';

type AnyCall =
  | ServerUnaryCall<object, object>
  | ServerReadableStream<object, object>
  | ServerWritableStream<object, object>
  | ServerDuplexStream<object, object>;

export interface ServedMethods {
  readonly handlers: Handlers;
  readonly limits: CallLimits;
  /** Admission by queue; a queue without one admits every call. */
  readonly admissions: Partial<Readonly<Record<Queue, EdgeAdmission>>>;
  readonly log: Pick<Log, 'error'>;
}

/** How Nest names the forms of methods (GrpcMethodStreamingType, which it does not export). */
const Form = { MESSAGE: 'no_stream', CALL: 'pt_stream' } as const;

/** Adds the handlers to Nest's server, each under its service and method. */
export function addHandlers(
  server: Pick<ServerGrpc, 'addHandler'>,
  served: PackageDefinition,
  parts: ServedMethods,
): void {
  const methods = Object.values(served).flatMap((entry) =>
    'format' in entry ? [] : Object.values(entry),
  );
  for (const { path, requestStream, responseStream } of methods) {
    const handler = parts.handlers.get(path);
    if (handler === undefined) continue;
    const [, service, rpc] = path.split('/');
    const streaming = requestStream ? Form.CALL : Form.MESSAGE;
    const answer = requestStream
      ? answerStream(path, handler, parts, responseStream)
      : answerMessage(path, handler, parts, responseStream);
    server.addHandler({ service, rpc, streaming }, answer as never);
  }
}

/** The call as handlers see it; ends it itself where nobody else does. */
function callOf(path: string, grpc: AnyCall, parts: ServedMethods): Call {
  const { limits, admissions } = parts;
  const { metadata } = grpc;
  const controller = new AbortController();
  const field = (name: string) => metadata.get(name)[0]?.toString();
  const queue = methodOf(path)?.queue;
  const call = new Call({
    edge: 'grpc',
    caller: callerOf(metadata),
    signal: controller.signal,
    transportMs: Number(grpc.getDeadline()) - Date.now(),
    limits,
    trace: carrierOf(field),
    field,
    admission: queue && admissions[queue],
  });
  if (grpc.cancelled) controller.abort();
  else {
    const emitter: NodeJS.EventEmitter = grpc as never;
    emitter.once('cancelled', () => {
      // grpc-js says so of each call that ends; an abort makes an error with its stack.
      if (!call.isOver) controller.abort();
    });
  }
  return call;
}

/** Rejects with the status of an error, after the pause that its code asks for. */
async function statusThrown(thrown: unknown, { log }: ServedMethods): Promise<never> {
  const pauseMs = refusalPauseMs(TesseraError.from(thrown));
  if (pauseMs > 0) await pause(pauseMs);
  throw loggedStatus(thrown, log);
}

/** A request of one message, answered by one or by a stream of them. */
function answerMessage(path: string, handler: Handler, parts: ServedMethods, isStream: boolean) {
  return (message: object, _metadata: Metadata, grpc: AnyCall): Observable<unknown> => {
    const read = () => {
      refuseMalformed(message);
      return message;
    };
    const call = callOf(path, grpc, parts);
    const answered = (async () => (await handler(read as never, call)) as object)();
    if (!isStream) {
      return from(call.during(() => answered).catch((thrown) => statusThrown(thrown, parts)));
    }
    const messages = streamed(answered as Promise<AsyncIterable<object>>, call, parts);
    return paced(messages, grpc as ServerWritableStream<unknown, unknown>);
  };
}

async function* streamed(
  answered: Promise<AsyncIterable<object> | Iterable<object>>,
  call: Call,
  parts: ServedMethods,
): AsyncGenerator<object> {
  try {
    yield* await answered;
  } catch (thrown) {
    await statusThrown(thrown, parts);
  } finally {
    call.end();
  }
}

type Requests = ServerReadableStream<object, object>;

/** Messages as the handler takes them: a client waits while it does not. */
async function* messagesOf(grpc: Requests): AsyncGenerator<object> {
  // The answer may come before the last message has been read.
  for await (const message of grpc.iterator({ destroyOnReturn: false })) {
    refuseMalformed(message as object);
    yield message as object;
  }
}

/** A request of many messages: the handler reads the call itself, with its back pressure. */
function answerStream(path: string, handler: Handler, parts: ServedMethods, isStream: boolean) {
  return async (grpc: Requests, done?: sendUnaryData<object>): Promise<void> => {
    const call = callOf(path, grpc, parts);
    try {
      const answer = (await handler(messagesOf(grpc) as never, call)) as object;
      if (isStream) await writeAll(answer as AsyncIterable<object>, grpc as never);
      else done?.(null, answer);
    } catch (thrown) {
      const status = await statusThrown(thrown, parts).catch((as: StatusObject) => as);
      if (isStream) grpc.emit('error', status);
      else done?.(status);
    } finally {
      call.end();
      grpc.resume();
    }
  };
}

async function writeAll(
  messages: AsyncIterable<object>,
  grpc: ServerDuplexStream<object, object>,
): Promise<void> {
  const writing = paced(messages, grpc as never);
  await new Promise<void>((resolve, reject) => {
    writing.subscribe({
      next: (message) => grpc.write(message as object),
      error: reject,
      complete: resolve,
    });
  });
  grpc.end();
}
