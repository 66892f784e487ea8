import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import { type Credentials, type EdgeGuard, GRPC_ACCESS, type Principal } from '@tessera/access';
import { TesseraError } from '@tessera/errors';
import { grpcStatus } from './error-filter.js';

/** By the metadata of their calls, which handlers are given as they are. */
const callers = new WeakMap<Metadata, Principal>();

/** Who calls, as metadata and transport say it; a certificate that is there was checked. */
function credentialsOf(metadata: Metadata, call: ServerInterceptingCallInterface): Credentials {
  return {
    authorization: metadata.get('authorization')[0]?.toString(),
    // Asked for only where there is no token: the transport decodes it anew each time.
    get certificate() {
      return call.getAuthContext().sslPeerCertificate?.subject?.CN?.toString();
    },
  };
}

/** Lets calls in as the access table says, before their messages are read. */
export function accessInterceptor(guard: Pick<EdgeGuard, 'enter'>): ServerInterceptor {
  return ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            try {
              callers.set(metadata, guard.enter(GRPC_ACCESS[path], credentialsOf(metadata, call)));
            } catch (thrown) {
              call.sendStatus(grpcStatus(TesseraError.from(thrown)));
              return;
            }
            pass(metadata);
          },
        }),
    });
}

/** Who calls: what the interceptor has found. */
export function callerOf(metadata: Metadata): Principal {
  const caller = callers.get(metadata);
  if (caller !== undefined) return caller;
  throw new TesseraError('INTERNAL', 'a call has come in that nobody has let in');
}
