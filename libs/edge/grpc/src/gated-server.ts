import { createServer, type Server as NetServer, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type TLSSocket,
  type Server as TlsServer,
} from 'node:tls';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { type GrpcOptions, ServerGrpc } from '@nestjs/microservices';
import type { TlsFiles, WatchedTls } from '@tessera/config';
import type { DirectServing } from './direct/direct-method.js';
import { RESETS } from './direct/reset-budget.js';
import { CallGate, type CallGateSettings } from './gate/call-gate.js';
import { GatedSocket, type GatedSocketSettings } from './gate/gated-socket.js';
import { requestStream } from './request-stream.js';

export interface GatedServerSettings {
  readonly host: string;
  readonly port: number;
  /** Connections at once; a further one is closed at once. */
  readonly connectionsMax: number;
  /** Undefined: every call is served. */
  readonly gate: CallGateSettings | undefined;
  /** Calls at once of one connection. */
  readonly streamsMax: number;
  /** Methods that are answered without grpc-js; undefined: none. */
  readonly direct: DirectServing | undefined;
  /** Undefined: no TLS. With an authority every client has to show a certificate of it. */
  readonly tls: WatchedTls | undefined;
}

/**
 * Of calls that the gate leaves to the server: Node ends connections that reset more than a burst
 * of 1,000 and 33 a second.
 */
const NODE_RESETS = { streamResetBurst: RESETS.burst, streamResetRate: RESETS.perSecond };

/** Milliseconds in which a client has to end its TLS handshake. */
const HANDSHAKE_MS_MAX = 10_000;
const PROTOCOL = 'h2';

const passAll = () => ({ isUncounted: true }) as const;

function tlsListener(
  { cert, key, ca, ...options }: TlsFiles & { noDelay: boolean; allowHalfOpen: boolean },
  accept: (socket: Socket) => void,
): TlsServer {
  const asksClients = ca !== undefined;
  return createTlsServer(
    {
      ...options,
      cert,
      key,
      ca,
      requestCert: asksClients,
      rejectUnauthorized: asksClients,
      ALPNProtocols: [PROTOCOL],
      handshakeTimeout: HANDSHAKE_MS_MAX,
    },
    (socket: TLSSocket) => {
      if (socket.alpnProtocol === PROTOCOL) accept(socket);
      else socket.destroy();
    },
  );
}

/** Nest's gRPC server behind a listener of its own, which bounds connections and gates calls. */
export class GatedGrpcServer extends ServerGrpc {
  private listener: NetServer | undefined;
  private readonly gated = new Set<GatedSocket>();

  constructor(
    private readonly grpcOptions: GrpcOptions['options'] & object,
    private readonly settings: GatedServerSettings,
  ) {
    super(grpcOptions);
    // Takes the place of Nest's buffer, which lets messages overtake each other.
    Object.assign(this, { bufferUntilDrained: requestStream });
  }

  override async createClient(): Promise<Server> {
    const { maxReceiveMessageLength, channelOptions } = this.grpcOptions;
    const server = new Server({
      ...(channelOptions as object),
      ...(maxReceiveMessageLength !== undefined && {
        'grpc.max_receive_message_length': maxReceiveMessageLength,
      }),
      ...this.getKeepaliveOptions(),
    });
    allowResets(server);
    const { gate, streamsMax, direct } = this.settings;
    // TLS ends in the listener, so that the gate sees the frames of every connection.
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    const decide = gate === undefined ? passAll : new CallGate(gate).decide;
    await this.listenWith((socket) => {
      injector.injectConnection(this.gate(socket, { decide, streamsMax, direct }));
    });
    return server;
  }

  override async close(): Promise<void> {
    this.listener?.close();
    await super.close();
    await Promise.all([...this.gated].map((socket) => socket.answered()));
  }

  private gate(socket: Socket, settings: GatedSocketSettings): GatedSocket {
    const gated = new GatedSocket(socket, settings);
    this.gated.add(gated);
    socket.once('close', () => this.gated.delete(gated));
    return gated;
  }

  private tlsListener(
    tls: WatchedTls,
    options: { noDelay: boolean; allowHalfOpen: boolean },
    accept: (socket: Socket) => void,
  ): NetServer {
    const listener = tlsListener({ ...options, ...tls.current }, accept);
    tls.onChange(({ cert, key, ca }) => listener.setSecureContext({ cert, key, ca }));
    return listener;
  }

  private listenWith(accept: (socket: Socket) => void): Promise<void> {
    const { host, port, connectionsMax, tls } = this.settings;
    const options = { noDelay: true, allowHalfOpen: true };
    const listener =
      tls === undefined ? createServer(options, accept) : this.tlsListener(tls, options, accept);
    listener.maxConnections = connectionsMax;
    this.listener = listener;
    return new Promise((resolve, reject) => {
      listener.once('error', reject);
      listener.listen({ host, port }, () => {
        listener.off('error', reject);
        resolve();
      });
    });
  }
}

/** grpc-js passes these options on to node:http2 and has no name of its own for the two. */
function allowResets(server: Server): void {
  const { commonServerOptions } = server as unknown as { commonServerOptions?: object };
  if (commonServerOptions === undefined) throw new Error('grpc-js keeps its options elsewhere');
  Object.assign(commonServerOptions, NODE_RESETS);
}
