import type * as grpc from '@grpc/grpc-js';
import {
  LOAD_TRAILER,
  type WireAppendRequest,
  type WireAppendResponse,
  type WireRecallRequest,
  type WireRecallResponse,
  type WireScoreRequest,
  type WireScoreResponse,
} from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  askInTurn,
  CostEstimates,
  failureOfCall,
  type Member,
  parseLoadClass,
  partitionOf,
  Router,
} from '@tessera/routing';
import { clusterState } from './cluster-state.js';
import {
  CHANNEL_OPTIONS,
  type Connection,
  channelCredentials,
  PLAIN,
  tokenHeaders,
} from './connection.js';
import { type Asked, ServiceClient } from './service-client.js';
import { errorOf } from './service-error.js';
import { TesseraClient } from './tessera-client.js';

const REFRESH_EVERY_MS = 1000;
const BYTES_PER_ITEM = 16;

export interface RoutedClientOptions {
  /** HOST:PORT of a gateway's HTTP edge, which says who the nodes are. */
  readonly gatewayHttp: string;
  /** HOST:PORT of its gRPC edge, which is asked where no node can be. */
  readonly gatewayGrpc: string;
  /** Left out: without TLS, as nobody. */
  readonly connection?: Connection;
}

interface Services {
  readonly recaller: ServiceClient<'tessera.recall.v1.RecallService'>;
  readonly scorer: ServiceClient<'tessera.score.v1.ScoreService'>;
  readonly kvPool: ServiceClient<'tessera.kv.v1.KvPoolService'>;
}

type Done<Answer> = (error: grpc.ServiceError | null, answer: Answer | undefined) => void;

/** The calls of one node. */
class NodeCalls {
  inFlight = 0;
  readonly services: Services;

  constructor(
    readonly member: Member,
    connection: Connection,
  ) {
    const shared = {
      credentials: channelCredentials(connection),
      headers: () => tokenHeaders(connection),
      channel: CHANNEL_OPTIONS,
    };
    const { grpc: address } = member;
    this.services = {
      recaller: new ServiceClient('tessera.recall.v1.RecallService', address, shared),
      scorer: new ServiceClient('tessera.score.v1.ScoreService', address, shared),
      kvPool: new ServiceClient('tessera.kv.v1.KvPoolService', address, shared),
    };
  }

  close(): void {
    for (const service of Object.values(this.services)) service.close();
  }
}

/**
 * Tessera in a cluster without the hop over a gateway: recalls, scores and what is kept of users go
 * to the owner by the same table (libs/cluster/routing), to a successor where it is away, loaded or
 * refuses, and to the gateway where no node answers. The nodes are asked for once a second; while
 * the gateway is away the last ones count. Everything else: TesseraClient on the gateway.
 */
export class RoutedClient {
  readonly router = new Router();
  private nodes = new Map<string, NodeCalls>();
  private timer: NodeJS.Timeout | undefined;
  private readonly gateway: TesseraClient;
  private readonly connection: Connection;

  private constructor(private readonly options: RoutedClientOptions) {
    this.connection = options.connection ?? PLAIN;
    this.gateway = new TesseraClient(options.gatewayGrpc, { connection: this.connection });
  }

  /** Rejects with NODE_UNAVAILABLE where the gateway does not say who the nodes are. */
  static async open(options: RoutedClientOptions): Promise<RoutedClient> {
    const client = new RoutedClient(options);
    await client.refresh();
    client.timer = setInterval(() => {
      client.refresh().catch(() => undefined);
    }, REFRESH_EVERY_MS);
    client.timer.unref();
    return client;
  }

  recall(request: Asked<WireRecallRequest>, deadlineMs: number): Promise<WireRecallResponse> {
    return this.ask(
      'Recall',
      request,
      deadlineMs,
      ({ recaller }, options, done) => recaller.begin('Recall', request, options, done),
      (leftMs) => this.gateway.recall(request, leftMs),
    );
  }

  score(request: Asked<WireScoreRequest>, deadlineMs: number): Promise<WireScoreResponse> {
    return this.ask(
      'Score',
      request,
      deadlineMs,
      ({ scorer }, options, done) => scorer.begin('Score', request, options, done),
      (leftMs) => this.gateway.score(request, leftMs),
    );
  }

  /** Keeps what a user's next prompt begins with, behind every recall. */
  keep(request: Asked<WireAppendRequest>, deadlineMs: number): Promise<WireAppendResponse> {
    return this.ask(
      'Append',
      request,
      deadlineMs,
      ({ kvPool }, options, done) => kvPool.begin('Append', request, options, done),
      (leftMs) => this.gateway.keep(request, leftMs),
    );
  }

  /** Asks who the nodes are. Rejects with NODE_UNAVAILABLE; the last ones count then. */
  async refresh(): Promise<void> {
    const { nodes: shown } = await clusterState(this.options.gatewayHttp, this.connection);
    const before = this.nodes;
    this.nodes = new Map();
    for (const member of shown) {
      const known = before.get(member.name);
      const isSame = known?.member.grpc === member.grpc && known.member.weight === member.weight;
      this.nodes.set(member.name, isSame ? known : new NodeCalls(member, this.connection));
    }
    const isChanged =
      before.size !== this.nodes.size ||
      [...this.nodes].some(([name, node]) => before.get(name) !== node);
    if (isChanged) this.router.setMembers(shown);
    for (const { name, state } of shown) this.router.setUp(name, state === 'up');
    for (const [name, node] of before) if (this.nodes.get(name) !== node) node.close();
  }

  close(): void {
    clearInterval(this.timer);
    for (const node of this.nodes.values()) node.close();
    this.gateway.close();
  }

  private async ask<Answer>(
    method: string,
    request: { readonly userId?: string | undefined; readonly history?: unknown },
    deadlineMs: number,
    begin: (
      services: Services,
      options: grpc.CallOptions,
      done: Done<Answer>,
    ) => grpc.ClientUnaryCall,
    askGateway: (leftMs: number) => Promise<Answer>,
  ): Promise<Answer> {
    const until = performance.now() + deadlineMs;
    const { userId = '' } = request;
    const partition = userId === '' ? undefined : partitionOf(userId);
    const kind = CostEstimates.kindOf(method, BYTES_PER_ITEM * historyLengthOf(request));
    const leftMs = () => until - performance.now();
    const { router, nodes } = this;
    const inTurn = {
      next: (without: readonly string[]) => {
        const chosen = leftMs() > 0 ? router.choose(partition, without) : undefined;
        return chosen && nodes.get(chosen.name);
      },
      nameOf,
      begin: (node: NodeCalls) => this.begin(node, kind),
      failureOf: (thrown: unknown) => failureOfCall(thrown as grpc.ServiceError),
      lost: (node: NodeCalls) => router.setUp(node.member.name, false),
      isOver: () => leftMs() <= 0,
    };
    const act = (node: NodeCalls) => this.askNode(node, leftMs(), begin);
    const ended = await askInTurn(inTurn, act).catch((thrown: grpc.ServiceError) => {
      throw errorOf(thrown);
    });
    if (ended.isAnswered) return ended.answer;
    const busy = ended.refusal as grpc.ServiceError | undefined;
    const refusal = busy && errorOf(busy);
    if (leftMs() > 0 && refusal?.code !== 'ENGINE_OVERLOADED') return askGateway(leftMs());
    throw refusal ?? new TesseraError('DEADLINE_EXCEEDED', `no answer in ${deadlineMs} ms`);
  }

  private begin(node: NodeCalls, kind: string): (isAnswered: boolean) => void {
    node.inFlight += 1;
    const end = this.router.begin(node.member.name, kind, node.inFlight);
    return (isAnswered) => {
      node.inFlight -= 1;
      end(isAnswered);
    };
  }

  private askNode<Answer>(
    node: NodeCalls,
    leftMs: number,
    begin: (
      services: Services,
      options: grpc.CallOptions,
      done: Done<Answer>,
    ) => grpc.ClientUnaryCall,
  ): Promise<Answer> {
    const { name } = node.member;
    return new Promise((resolve, reject) => {
      const call = begin(node.services, { deadline: Date.now() + leftMs }, (error, answer) => {
        if (error === null) resolve(answer as Answer);
        else reject(error);
      });
      call.on('status', ({ metadata }: grpc.StatusObject) => {
        const load = parseLoadClass(metadata.get(LOAD_TRAILER)[0]?.toString());
        if (load !== undefined) this.router.state(name, load);
      });
    });
  }
}

function historyLengthOf({ history }: { readonly history?: unknown }): number {
  const { itemIds } = (history ?? {}) as { readonly itemIds?: readonly string[] };
  return itemIds?.length ?? 0;
}

const nameOf = ({ member }: NodeCalls): string => member.name;
