import type * as grpc from '@grpc/grpc-js';
import { ServiceClient } from '@tessera/client';

export interface GrpcReply {
  readonly status: number;
  readonly details: string;
  readonly code: string | undefined;
  readonly field: string | undefined;
  readonly answer: Record<string, unknown> | undefined;
}

const OPTIONS = {
  enums: 'names' as const,
  // With less the first calls go another way through the service.
  channel: { 'grpc-node.flow_control_window': 1 << 20 },
};

/** A client of requests that tells of an error what its trailers say. */
export class RecallClient {
  private readonly recaller: ServiceClient<'tessera.recall.v1.RecallService'>;
  private readonly scorer: ServiceClient<'tessera.score.v1.ScoreService'>;
  private readonly ranker: ServiceClient<'tessera.ranking.v1.RankingService'>;
  private readonly explainer: ServiceClient<'tessera.explain.v1.ExplainService'>;

  constructor(address: string) {
    this.recaller = new ServiceClient('tessera.recall.v1.RecallService', address, OPTIONS);
    this.scorer = new ServiceClient('tessera.score.v1.ScoreService', address, OPTIONS);
    this.ranker = new ServiceClient('tessera.ranking.v1.RankingService', address, OPTIONS);
    this.explainer = new ServiceClient('tessera.explain.v1.ExplainService', address, OPTIONS);
  }

  begin(message: object, options: grpc.CallOptions = {}) {
    return called((done) => this.recaller.begin('Recall', message, options, done));
  }

  score(message: object, options: grpc.CallOptions = {}): Promise<GrpcReply> {
    return called((done) => this.scorer.begin('Score', message, options, done)).reply;
  }

  rank(message: object, options: grpc.CallOptions = {}): Promise<GrpcReply> {
    return called((done) => this.ranker.begin('Rank', message, options, done)).reply;
  }

  explain(message: object, options: grpc.CallOptions = {}): Promise<GrpcReply> {
    return called((done) => this.explainer.begin('Explain', message, options, done)).reply;
  }

  recall(message: object, options: grpc.CallOptions = {}): Promise<GrpcReply> {
    return this.begin(message, options).reply;
  }

  close(): void {
    this.recaller.close();
    this.scorer.close();
    this.ranker.close();
    this.explainer.close();
  }
}

type Done = (error: grpc.ServiceError | null, answer: object | undefined) => void;

function called(call: (done: Done) => grpc.ClientUnaryCall) {
  let begun: grpc.ClientUnaryCall | undefined;
  const reply = new Promise<GrpcReply>((resolve) => {
    begun = call((error, answer) => {
      const trailer = (name: string) => error?.metadata.get(name)[0]?.toString();
      resolve({
        status: error?.code ?? 0,
        details: error?.details ?? '',
        code: trailer('tessera-code'),
        field: trailer('tessera-field'),
        answer: answer as Record<string, unknown> | undefined,
      });
    });
  });
  return { reply, cancel: () => begun?.cancel() };
}
