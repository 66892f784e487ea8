import {
  type Metadata,
  type ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import { type Credentials, type EdgeGuard, GRPC_ACCESS, type Principal } from '@tessera/access';
import { TesseraError } from '@tessera/errors';
import { grpcStatus } from './error-filter.js';
import { GatedSocket } from './gate/gated-socket.js';
import { boundMessageTime } from './message-time.js';

/** By the metadata of their calls, which handlers are given as they are. */
const callers = new WeakMap<Metadata, Principal>();

/** Where a connection of node:http2 keeps the stream below it that is no socket of node:net. */
interface CallOfGrpcJs {
  readonly stream?: { readonly session?: { readonly socket?: { readonly stream?: unknown } } };
}

/** grpc-js looks for certificates at sockets of node:tls alone; TLS ends before the gate. */
function gatedBelow(call: ServerInterceptingCallInterface): GatedSocket | undefined {
  const below = (call as CallOfGrpcJs).stream?.session?.socket?.stream;
  return below instanceof GatedSocket ? below : undefined;
}

/** The caller by metadata and transport; a certificate that is there was checked. */
function credentialsOf(metadata: Metadata, call: ServerInterceptingCallInterface): Credentials {
  return {
    authorization: metadata.get('authorization')[0]?.toString(),
    // Looked for only where there is no token: the way down leads through proxies of node:http2.
    get certificate() {
      return gatedBelow(call)?.certificate;
    },
  };
}

/**
 * Lets calls in as the access table says, before their messages are read. What grpc-js has for
 * interceptors passes every event of a call through two more objects, which costs each call as much
 * as a small recall's answer does; the one event that matters is taken from the call itself.
 */
export function accessInterceptor(
  guard: Pick<EdgeGuard, 'enter'>,
  bodyMs: number,
): ServerInterceptor {
  return ({ path, requestStream, responseStream }, call) => {
    // A stream of questions and answers may be silent as long as its client likes.
    if (!(requestStream && responseStream)) boundMessageTime(call, bodyMs);
    const start = call.start.bind(call);
    call.start = (listener) => {
      const pass = listener.onReceiveMetadata.bind(listener);
      listener.onReceiveMetadata = (metadata) => {
        try {
          callers.set(metadata, guard.enter(GRPC_ACCESS[path], credentialsOf(metadata, call)));
        } catch (thrown) {
          call.sendStatus(grpcStatus(TesseraError.from(thrown)));
          return;
        }
        pass(metadata);
      };
      start(listener);
    };
    // Of the type that is wanted only the interface is called.
    return call as ServerInterceptingCall;
  };
}

/** The caller, as the interceptor found them. */
export function callerOf(metadata: Metadata): Principal {
  const caller = callers.get(metadata);
  if (caller !== undefined) return caller;
  throw new TesseraError('INTERNAL', 'a call has come in that nobody has let in');
}
