import * as grpc from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';

export interface GrpcReply {
  readonly status: number;
  readonly details: string;
  readonly code: string | undefined;
  readonly field: string | undefined;
  readonly answer: Record<string, unknown> | undefined;
}

type Unary = (
  message: object,
  options: grpc.CallOptions,
  done: (error: grpc.ServiceError | null, answer: Record<string, unknown> | undefined) => void,
) => grpc.ClientUnaryCall;

interface Packages {
  readonly tessera: {
    readonly recall: { readonly v1: { readonly RecallService: grpc.ServiceClientConstructor } };
    readonly explain: { readonly v1: { readonly ExplainService: grpc.ServiceClientConstructor } };
    readonly score: { readonly v1: { readonly ScoreService: grpc.ServiceClientConstructor } };
  };
}

/** A client made from the proto files themselves, independent of the generated code. */
export class RecallClient {
  private readonly recaller: grpc.Client & { Recall: Unary };
  private readonly scorer: grpc.Client & { Score: Unary };
  private readonly explainer: grpc.Client & { Explain: Unary };

  constructor(address: string) {
    const definition = protoLoader.loadSync(
      ['recall', 'score', 'explain'].map((name) => `tessera/${name}/v1/${name}_service.proto`),
      { includeDirs: ['proto'], defaults: true, enums: String, longs: Number },
    );
    const { tessera } = grpc.loadPackageDefinition(definition) as never as Packages;
    const credentials = grpc.credentials.createInsecure();
    // With less the first calls go another way through the service.
    const options = { 'grpc-node.flow_control_window': 1 << 20 };
    this.recaller = new tessera.recall.v1.RecallService(address, credentials, options) as never;
    this.explainer = new tessera.explain.v1.ExplainService(address, credentials, options) as never;
    this.scorer = new tessera.score.v1.ScoreService(address, credentials, options) as never;
  }

  begin(message: object, options: grpc.CallOptions = {}) {
    return called((done) => this.recaller.Recall(message, options, done));
  }

  score(message: object, options: grpc.CallOptions = {}): Promise<GrpcReply> {
    return called((done) => this.scorer.Score(message, options, done)).reply;
  }

  explain(message: object, options: grpc.CallOptions = {}): Promise<GrpcReply> {
    return called((done) => this.explainer.Explain(message, options, done)).reply;
  }

  recall(message: object, options: grpc.CallOptions = {}): Promise<GrpcReply> {
    return this.begin(message, options).reply;
  }

  close(): void {
    this.recaller.close();
    this.scorer.close();
    this.explainer.close();
  }
}

function called(call: (done: Parameters<Unary>[2]) => grpc.ClientUnaryCall) {
  let begun: grpc.ClientUnaryCall | undefined;
  const reply = new Promise<GrpcReply>((resolve) => {
    begun = call((error, answer) => {
      const trailer = (name: string) => error?.metadata.get(name)[0]?.toString();
      resolve({
        status: error?.code ?? 0,
        details: error?.details ?? '',
        code: trailer('tessera-code'),
        field: trailer('tessera-field'),
        answer,
      });
    });
  });
  return { reply, cancel: () => begun?.cancel() };
}
