import {
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerListener,
  status,
} from '@grpc/grpc-js';
import type { Credentials, EdgeGuard, Principal } from '@tessera/access';
import { TesseraError } from '@tessera/errors';
import { methodOf } from '@tessera/methods';
import type { Log } from '@tessera/telemetry';
import { loggedStatus } from './status.js';

/** Callers by the metadata of their calls, which handlers are given unchanged. */
const callers = new WeakMap<Metadata, Principal>();

export interface CallRules {
  readonly guard: Pick<EdgeGuard, 'enter'>;
  /** Milliseconds that each message of a request may take to arrive. */
  readonly bodyMs: number;
  readonly log: Pick<Log, 'error'>;
  /** Trailer of every answer and its value; left out: there is none. */
  readonly trailer?: readonly [name: string, value: () => string];
}

/** The caller by metadata and transport; the certificate was verified in the handshake. */
function credentialsOf(metadata: Metadata, call: ServerInterceptingCallInterface): Credentials {
  return {
    authorization: metadata.get('authorization')[0]?.toString(),
    get certificate() {
      return call.getAuthContext().sslPeerCertificate?.subject.CN?.toString();
    },
  };
}

/** A call of which each message that the server waits for has to arrive in time. */
class TimedCall extends ServerInterceptingCall {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly inner: ServerInterceptingCallInterface,
    responder: ConstructorParameters<typeof ServerInterceptingCall>[1],
    /** Infinity: a conversation may pause as long as its client likes. */
    private readonly bodyMs: number,
  ) {
    super(inner, responder);
  }

  override startRead(): void {
    this.arrived();
    if (this.bodyMs !== Number.POSITIVE_INFINITY) {
      this.timer = setTimeout(() => this.expire(), this.bodyMs);
    }
    super.startRead();
  }

  /** A message, the end of the request or the end of the call has come. */
  arrived(): void {
    clearTimeout(this.timer);
  }

  private expire(): void {
    const { bodyMs } = this;
    const details = `edge.bodyMs: expected a message of the request within ${bodyMs} ms, got none`;
    this.inner.sendStatus({ code: status.DEADLINE_EXCEEDED, details, metadata: null });
  }
}

/**
 * Lets calls in before their messages are read: identity and scope by the table of methods. Bounds
 * the time of each message and adds the trailer of answers.
 */
export function callInterceptor(rules: CallRules): ServerInterceptor {
  return ({ path, requestStream, responseStream }, inner) => {
    const method = methodOf(path);
    const listener: ServerListener = {
      onReceiveMetadata: (metadata, next) => {
        try {
          const credentials = credentialsOf(metadata, inner);
          letIn(metadata, rules.guard.enter(method?.access, credentials));
        } catch (thrown) {
          inner.sendStatus(loggedStatus(thrown, rules.log));
          return;
        }
        next(metadata);
      },
      onReceiveMessage: (message, next) => {
        call.arrived();
        next(message);
      },
      onReceiveHalfClose: (next) => {
        call.arrived();
        next();
      },
      onCancel: () => call.arrived(),
    };
    const isConversation = requestStream && responseStream;
    const call = new TimedCall(
      inner,
      {
        start: (next) => next(listener),
        sendStatus: (sent, next) => next(withTrailer(sent, rules.trailer)),
      },
      isConversation ? Number.POSITIVE_INFINITY : rules.bodyMs,
    );
    return call;
  };
}

type Sent = Parameters<ServerInterceptingCallInterface['sendStatus']>[0];

function withTrailer(sent: Sent, trailer: CallRules['trailer']): Sent {
  if (trailer === undefined) return sent;
  const metadata = sent.metadata?.clone() ?? new Metadata();
  metadata.set(trailer[0], trailer[1]());
  return { ...sent, metadata };
}

/** Notes the caller of a call that was let in. */
export function letIn(metadata: Metadata, caller: Principal): void {
  callers.set(metadata, caller);
}

/** The caller, as the interceptor found them. */
export function callerOf(metadata: Metadata): Principal {
  const caller = callers.get(metadata);
  if (caller !== undefined) return caller;
  throw new TesseraError('INTERNAL', 'call reached its handler without an access check');
}
