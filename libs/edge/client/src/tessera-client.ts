import * as grpc from '@grpc/grpc-js';
import {
  type WireAppendRequest,
  type WireAppendResponse,
  type WireBehaviour,
  type WireBehaviourAppendResponse,
  type WireDropUserResponse,
  type WireEraseResponse,
  type WireHistoryResponse,
  type WireRankRequest,
  type WireRankResponse,
  type WireRecallRequest,
  type WireRecallResponse,
  type WireScoreRequest,
  type WireScoreResponse,
} from '@tessera/contracts';
import {
  CHANNEL_OPTIONS,
  type Connection,
  channelCredentials,
  PLAIN,
  tokenHeaders,
} from './connection.js';
import { Retries } from './retries.js';
import { type Asked, ServiceClient, type ServiceName } from './service-client.js';
import { errorOf } from './service-error.js';

const REPLY_BYTES_MAX = 64 << 20;

type Headers = Readonly<Record<string, string>>;

export interface ClientOptions {
  /** Left out: without TLS, as nobody. */
  readonly connection?: Connection;
  /** Metadata of each call, such as the caller's trace. */
  readonly headers?: () => Headers;
}

/**
 * Tessera over gRPC. Every call takes the milliseconds that it may last, repetitions included, and
 * rejects with a TesseraError that bears the service's code and field.
 */
export class TesseraClient {
  private readonly channel: grpc.Channel;
  private readonly retries = new Retries();
  private readonly recaller: ServiceClient<'tessera.recall.v1.RecallService'>;
  private readonly scorer: ServiceClient<'tessera.score.v1.ScoreService'>;
  private readonly ranker: ServiceClient<'tessera.ranking.v1.RankingService'>;
  private readonly behaviours: ServiceClient<'tessera.behaviour.v1.BehaviourService'>;
  private readonly kvPool: ServiceClient<'tessera.kv.v1.KvPoolService'>;

  /** `address`: host:port. Nothing is connected before the first call. */
  constructor(address: string, { connection = PLAIN, headers }: ClientOptions = {}) {
    const credentials = channelCredentials(connection);
    const options = {
      'grpc.max_receive_message_length': REPLY_BYTES_MAX,
      ...CHANNEL_OPTIONS,
    };
    this.channel = new grpc.Channel(address, credentials, options);
    const shared = {
      credentials,
      headers: () => Object.assign({}, headers?.(), tokenHeaders(connection)),
      channel: { channelOverride: this.channel },
    };
    const clientOf = <Name extends ServiceName>(name: Name) =>
      new ServiceClient(name, address, shared);
    this.recaller = clientOf('tessera.recall.v1.RecallService');
    this.scorer = clientOf('tessera.score.v1.ScoreService');
    this.ranker = clientOf('tessera.ranking.v1.RankingService');
    this.behaviours = clientOf('tessera.behaviour.v1.BehaviourService');
    this.kvPool = clientOf('tessera.kv.v1.KvPoolService');
  }

  recall(request: Asked<WireRecallRequest>, deadlineMs: number): Promise<WireRecallResponse> {
    return this.call(deadlineMs, (options) => this.recaller.call('Recall', request, options));
  }

  score(request: Asked<WireScoreRequest>, deadlineMs: number): Promise<WireScoreResponse> {
    return this.call(deadlineMs, (options) => this.scorer.call('Score', request, options));
  }

  rank(request: Asked<WireRankRequest>, deadlineMs: number): Promise<WireRankResponse> {
    return this.call(deadlineMs, (options) => this.ranker.call('Rank', request, options));
  }

  /** May be repeated by the caller too: an event ID counts once. */
  append(
    behaviours: readonly WireBehaviour[],
    deadlineMs: number,
  ): Promise<WireBehaviourAppendResponse> {
    return this.call(deadlineMs, (options) =>
      this.behaviours.call('Append', { behaviours }, options),
    );
  }

  history(userId: string, limit: number, deadlineMs: number): Promise<WireHistoryResponse> {
    return this.call(deadlineMs, (options) =>
      this.behaviours.call('History', { userId, limit }, options),
    );
  }

  /** Keeps what a user's next prompt begins with, behind every recall. */
  keep(request: Asked<WireAppendRequest>, deadlineMs: number): Promise<WireAppendResponse> {
    return this.call(deadlineMs, (options) => this.kvPool.call('Append', request, options));
  }

  /** Forgets the keys and values of a user, and their recorded recalls where that is asked for. */
  dropUser(
    userId: string,
    deadlineMs: number,
    { withRecords = false } = {},
  ): Promise<WireDropUserResponse> {
    return this.call(deadlineMs, (options) =>
      this.kvPool.call('DropUser', { userId, withRecords }, options),
    );
  }

  erase(userId: string, deadlineMs: number): Promise<WireEraseResponse> {
    return this.call(deadlineMs, (options) => this.behaviours.call('Erase', { userId }, options));
  }

  close(): void {
    this.channel.close();
  }

  private call<Answer>(
    deadlineMs: number,
    ask: (options: grpc.CallOptions) => Promise<Answer>,
  ): Promise<Answer> {
    const attempt = (leftMs: number) => ask({ deadline: Date.now() + leftMs });
    return this.retries.within(deadlineMs, attempt, (thrown) => errorOf(thrown as object));
  }
}
