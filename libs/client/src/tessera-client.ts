import * as grpc from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';
import {
  protoSchema,
  type WireAppendRequest,
  type WireAppendResponse,
  type WireBehaviour,
  type WireBehaviourAppendResponse,
  type WireDropUserResponse,
  type WireEraseResponse,
  type WireHistoryResponse,
  type WireRecallRequest,
  type WireRecallResponse,
  type WireScoreRequest,
  type WireScoreResponse,
} from '@tessera/contracts';
import { type ErrorCode, GRPC_STATUS, isErrorCode, TesseraError } from '@tessera/errors';
import { type Connection, channelCredentials, PLAIN, tokenHeaders } from './connection.js';
import { withRetries } from './retry.js';

const REPLY_BYTES_MAX = 64 << 20;
/** Answers of many calls under way at once: with less than that the service takes a longer way. */
const WINDOW_BYTES = 1 << 20;
/** A service that is back is found within a second. */
const RECONNECT = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
};
const MESSAGE_SHAPE = { defaults: true, longs: Number, enums: Number, oneofs: false } as const;

type Headers = Readonly<Record<string, string>>;

export interface ClientOptions {
  /** Left out: without TLS, as nobody. */
  readonly connection?: Connection;
  /** Metadata of each call, such as the caller's trace. */
  readonly headers?: () => Headers;
}

/** A request without the fields that shall have their defaults. */
export type Asked<Request> = { readonly [Field in keyof Request]?: Request[Field] | undefined };

type Unary = (
  request: object,
  metadata: grpc.Metadata,
  options: grpc.CallOptions,
  done: (error: grpc.ServiceError | null, answer: unknown) => void,
) => void;

/** A service of the schema by its full name. */
function serviceAt(packages: grpc.GrpcObject, name: string): grpc.ServiceClientConstructor {
  return name
    .split('.')
    .reduce<unknown>((found, part) => (found as Record<string, unknown>)[part], packages) as never;
}

/**
 * Tessera over gRPC. Every call takes the milliseconds that it may last, repetitions included, and
 * rejects with a TesseraError that bears the service's code and field.
 */
export class TesseraClient {
  private readonly channel: grpc.Channel;
  private readonly recaller: grpc.Client;
  private readonly scorer: grpc.Client;
  private readonly behaviours: grpc.Client;
  private readonly kvPool: grpc.Client;
  private readonly headers: () => Headers;

  /** `address`: host:port. Nothing is connected before the first call. */
  constructor(address: string, { connection = PLAIN, headers }: ClientOptions = {}) {
    const credentials = channelCredentials(connection);
    const own = tokenHeaders(connection);
    this.headers = () => ({ ...headers?.(), ...own });
    const schema = protoSchema as Parameters<typeof protoLoader.fromJSON>[0];
    const packages = grpc.loadPackageDefinition(protoLoader.fromJSON(schema, MESSAGE_SHAPE));
    const options = {
      'grpc.max_receive_message_length': REPLY_BYTES_MAX,
      'grpc-node.flow_control_window': WINDOW_BYTES,
      ...RECONNECT,
    };
    this.channel = new grpc.Channel(address, credentials, options);
    const channelOverride = this.channel;
    const clientOf = (name: string) =>
      new (serviceAt(packages, name))(address, credentials, { channelOverride });
    this.recaller = clientOf('tessera.recall.v1.RecallService');
    this.scorer = clientOf('tessera.score.v1.ScoreService');
    this.behaviours = clientOf('tessera.behaviour.v1.BehaviourService');
    this.kvPool = clientOf('tessera.kv.v1.KvPoolService');
  }

  recall(request: Asked<WireRecallRequest>, deadlineMs: number): Promise<WireRecallResponse> {
    return this.call(this.recaller, 'Recall', request, deadlineMs);
  }

  score(request: Asked<WireScoreRequest>, deadlineMs: number): Promise<WireScoreResponse> {
    return this.call(this.scorer, 'Score', request, deadlineMs);
  }

  /** May be repeated by the caller too: an event ID counts once. */
  append(
    behaviours: readonly WireBehaviour[],
    deadlineMs: number,
  ): Promise<WireBehaviourAppendResponse> {
    return this.call(this.behaviours, 'Append', { behaviours }, deadlineMs);
  }

  history(userId: string, limit: number, deadlineMs: number): Promise<WireHistoryResponse> {
    return this.call(this.behaviours, 'History', { userId, limit }, deadlineMs);
  }

  /** Keeps what a user's next prompt begins with, behind every recall. */
  keep(request: Asked<WireAppendRequest>, deadlineMs: number): Promise<WireAppendResponse> {
    return this.call(this.kvPool, 'Append', request, deadlineMs);
  }

  /** Forgets the keys and values of a user, and their recorded recalls where that is asked for. */
  dropUser(
    userId: string,
    deadlineMs: number,
    { withRecords = false } = {},
  ): Promise<WireDropUserResponse> {
    return this.call(this.kvPool, 'DropUser', { userId, withRecords }, deadlineMs);
  }

  erase(userId: string, deadlineMs: number): Promise<WireEraseResponse> {
    return this.call(this.behaviours, 'Erase', { userId }, deadlineMs);
  }

  close(): void {
    this.channel.close();
  }

  private call<Answer>(
    client: grpc.Client,
    method: string,
    request: object,
    deadlineMs: number,
  ): Promise<Answer> {
    const metadata = new grpc.Metadata();
    for (const [name, value] of Object.entries(this.headers())) metadata.set(name, value);
    return withRetries(deadlineMs, (leftMs) => {
      const unary = (client as never as Record<string, Unary>)[method] as Unary;
      const options = { deadline: Date.now() + leftMs };
      return new Promise<Answer>((resolve, reject) => {
        unary.call(client, request, metadata, options, (error, answer) => {
          if (error === null) resolve(answer as Answer);
          else reject(errorOf(error));
        });
      });
    });
  }
}

/** Statuses of gRPC itself, where the service said nothing. */
const TRANSPORT_CODES: ReadonlyMap<number, ErrorCode> = new Map([
  [GRPC_STATUS.CANCELLED, 'CANCELLED'],
  [GRPC_STATUS.DEADLINE_EXCEEDED, 'DEADLINE_EXCEEDED'],
  [GRPC_STATUS.UNAVAILABLE, 'ENGINE_UNAVAILABLE'],
  [GRPC_STATUS.UNIMPLEMENTED, 'ROUTE_NOT_FOUND'],
  [GRPC_STATUS.RESOURCE_EXHAUSTED, 'BODY_TOO_LARGE'],
]);

function errorOf(error: grpc.ServiceError): TesseraError {
  const trailer = (name: string) => error.metadata.get(`tessera-${name}`)[0]?.toString();
  const said = trailer('code');
  const code =
    said !== undefined && isErrorCode(said)
      ? said
      : (TRANSPORT_CODES.get(error.code) ?? 'INTERNAL');
  const retryAfter = trailer('retry-after-ms');
  return new TesseraError(code, error.details, {
    field: trailer('field'),
    retryAfterMs: retryAfter === undefined ? undefined : Number(retryAfter),
    cause: error,
  });
}
