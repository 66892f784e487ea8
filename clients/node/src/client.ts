import * as grpc from '@grpc/grpc-js';
import { CHANNEL_OPTIONS, credentialsOf, examined, type Tls, tokenSource } from './connection.js';
import { errorOf, failureOf, TesseraError } from './errors.js';
import { Retries } from './generated/retries.js';
import type {
  AppendOutcome,
  AppendResponse,
  Behaviour,
  EraseResponse,
  HistoryResponse,
} from './generated/tessera/behaviour/v1/behaviour.js';
import type { ApplyResponse, Change } from './generated/tessera/catalogue/v1/catalogue.js';
import type { EmbedRequest, EmbedResponse } from './generated/tessera/embedding/v1/embedding.js';
import type { RankRequest, RankResponse } from './generated/tessera/ranking/v1/ranking.js';
import type {
  RecallBatchResponse,
  RecallRequest,
  RecallResponse,
} from './generated/tessera/recall/v1/recall.js';
import type {
  RelevanceServiceScoreRequest,
  RelevanceServiceScoreResponse,
} from './generated/tessera/relevance/v1/relevance.js';
import type { ScoreRequest, ScoreResponse } from './generated/tessera/score/v1/score.js';
import { type Asked, Stub } from './stubs.js';

const DEADLINE_MS = 500;
const BYTES_PER_NUMBER = 4;
const HEALTH = '/grpc.health.v1.Health/Check';
/** HealthCheckResponse with SERVING. */
const SERVING = Buffer.of(8, 1);

export interface ClientOptions {
  /** Left out: without TLS. */
  readonly tls?: Tls;
  readonly token?: string;
  /** A file with the token, read for each call. */
  readonly tokenFile?: string;
  /** Milliseconds of a call that names none, repeats included; 500. */
  readonly deadlineMs?: number;
}

export interface CallOptions {
  /** Milliseconds, repeats included. */
  readonly deadlineMs?: number;
}

export interface RecallOptions extends CallOptions {
  /**
   * Makes the answer of a recall that fails for now: overload, deadline, no connection. A fault of
   * the request rejects all the same.
   */
  readonly fallback?: (error: TesseraError) => RecallResponse;
}

/**
 * One connection to a service, or to several of one name (`dns:///ads:50051`). Nothing is connected
 * before the first call. Calls reject with TesseraError; what the service refuses for now is asked
 * again when it says that it may succeed, as long as the deadline and the client's budget of
 * repeats allow.
 */
export class Client {
  private readonly channel: grpc.Channel;
  private readonly stubs = new Map<string, Stub>();
  private readonly retries = new Retries();
  private readonly token: () => string;

  /** @throws TypeError for options that contradict each other, Error for an absent file */
  constructor(
    private readonly address: string,
    private readonly options: ClientOptions = {},
  ) {
    this.token = tokenSource(options.token, options.tokenFile);
    this.channel = new grpc.Channel(address, credentialsOf(options.tls), CHANNEL_OPTIONS);
  }

  close(): void {
    this.channel.close();
  }

  /** The live items that fit a user, best first. */
  async recall(
    request: Asked<RecallRequest>,
    { fallback, ...options }: RecallOptions = {},
  ): Promise<RecallResponse> {
    try {
      return await this.ask('recall.v1.RecallService/Recall', request, options);
    } catch (thrown) {
      const error = thrown as TesseraError;
      const isForNow = error.retryable || error.code === 'DEADLINE_EXCEEDED';
      if (fallback === undefined || !isForNow) throw error;
      return fallback(error);
    }
  }

  /** Many recalls in one call, 256 at most: an answer or an error for each, in their order. */
  async recallBatch(
    recalls: readonly Asked<RecallRequest>[],
    options?: CallOptions,
  ): Promise<readonly (RecallResponse | TesseraError)[]> {
    const path = 'recall.v1.RecallService/RecallBatch';
    const { outcomes } = await this.ask<RecallBatchResponse>(path, { recalls }, options);
    return outcomes.map(({ answer, failure }) => {
      if (failure !== undefined) return failureOf(failure);
      return answer as RecallResponse;
    });
  }

  /** Log-probabilities of items for a user, in their order. */
  score(request: Asked<ScoreRequest>, options?: CallOptions): Promise<ScoreResponse> {
    return this.ask('score.v1.ScoreService/Score', request, options);
  }

  /** Items for a user with the numbers of their heads, best first. */
  rank(request: Asked<RankRequest>, options?: CallOptions): Promise<RankResponse> {
    return this.ask('ranking.v1.RankingService/Rank', request, options);
  }

  /** A vector per text, by a model of `embedding.models`. */
  async embed(
    request: Asked<EmbedRequest>,
    options?: CallOptions,
  ): Promise<readonly Float32Array[]> {
    const path = 'embedding.v1.EmbeddingService/Embed';
    const { vectors, dimensions } = await this.ask<EmbedResponse>(path, request, options);
    const texts = request.texts ?? [];
    const bytes = BYTES_PER_NUMBER * texts.length * dimensions;
    if (vectors.byteLength !== bytes) {
      const message = `vectors: expected ${bytes} bytes, got ${vectors.byteLength}`;
      throw new TesseraError('INTERNAL', message);
    }
    const view = new DataView(vectors.buffer, vectors.byteOffset, vectors.byteLength);
    return texts.map((_, text) =>
      Float32Array.from({ length: dimensions }, (_number, at) =>
        view.getFloat32(BYTES_PER_NUMBER * (text * dimensions + at), true),
      ),
    );
  }

  /** How well documents fit a query, in their order. */
  relevance(
    request: Asked<RelevanceServiceScoreRequest>,
    options?: CallOptions,
  ): Promise<RelevanceServiceScoreResponse> {
    return this.ask('relevance.v1.RelevanceService/Score', request, options);
  }

  /** Stores behaviours; an event ID counts once, so that a repeat is harmless. */
  async append(
    behaviours: readonly Asked<Behaviour>[],
    options?: CallOptions,
  ): Promise<readonly AppendOutcome[]> {
    const path = 'behaviour.v1.BehaviourService/Append';
    return (await this.ask<AppendResponse>(path, { behaviours }, options)).outcomes;
  }

  /** Behaviours of a user, oldest first, the newest `limit`, and the profile. */
  history(userId: string, limit?: number, options?: CallOptions): Promise<HistoryResponse> {
    return this.ask('behaviour.v1.BehaviourService/History', { userId, limit }, options);
  }

  async putProfile(
    userId: string,
    profile: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<void> {
    await this.ask('behaviour.v1.BehaviourService/PutProfile', { userId, profile }, options);
  }

  /** Erases a user everywhere; false: nothing was known of the user. */
  async erase(userId: string, options?: CallOptions): Promise<boolean> {
    const path = 'behaviour.v1.BehaviourService/Erase';
    return (await this.ask<EraseResponse>(path, { userId }, options)).known;
  }

  /** Applies changes of a catalogue ('': the first), all or none. */
  apply(
    changes: readonly Asked<Change>[],
    catalogue = '',
    options?: CallOptions,
  ): Promise<ApplyResponse> {
    const request = { changes, catalogue };
    return this.ask('catalogue.v1.CatalogueService/Apply', request, options);
  }

  /** True if the service is there and ready (grpc.health.v1). */
  serving({ deadlineMs = this.options.deadlineMs ?? DEADLINE_MS }: CallOptions = {}) {
    const { address, channel: channelOverride } = this;
    const options = { deadline: Date.now() + deadlineMs };
    const client = new grpc.Client(address, credentialsOf(this.options.tls), { channelOverride });
    const asIs = (bytes: Buffer) => bytes;
    return new Promise<boolean>((resolve) => {
      const done = (_: unknown, answer?: Buffer) => resolve(answer?.equals(SERVING) === true);
      const request = Buffer.alloc(0);
      client.makeUnaryRequest(HEALTH, asIs, asIs, request, this.metadata(), options, done);
    });
  }

  /** A method that answers one message with one, by `package.v1.Service/Method` of proto. */
  ask<Answer>(path: string, request: object, options: CallOptions = {}): Promise<Answer> {
    const [service = '', method = ''] = path.split('/');
    const { address } = this;
    const { tls, deadlineMs = DEADLINE_MS } = this.options;
    const stub = this.stubOf(`tessera.${service}`);
    return this.retries.within(
      options.deadlineMs ?? deadlineMs,
      (leftMs) => stub.call(method, request, this.metadata(), { deadline: Date.now() + leftMs }),
      (thrown, leftMs) => examined(errorOf(thrown as grpc.ServiceError), address, tls, leftMs),
    );
  }

  private stubOf(service: string): Stub {
    const known = this.stubs.get(service);
    if (known !== undefined) return known;
    const shared = { channelOverride: this.channel };
    const stub = new Stub(service, this.address, credentialsOf(this.options.tls), shared);
    this.stubs.set(service, stub);
    return stub;
  }

  private metadata(): grpc.Metadata {
    const metadata = new grpc.Metadata();
    const token = this.token();
    if (token !== '') metadata.set('authorization', `Bearer ${token}`);
    return metadata;
  }
}
