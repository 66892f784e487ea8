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

/** A client made from the proto files themselves, independent of the generated code. */
export class RecallClient {
  private readonly client: grpc.Client & { Recall: Unary };

  constructor(address: string) {
    const definition = protoLoader.loadSync('tessera/recall/v1/recall_service.proto', {
      includeDirs: ['proto'],
      defaults: true,
      enums: String,
    });
    const packages = grpc.loadPackageDefinition(definition) as never as {
      tessera: { recall: { v1: { RecallService: grpc.ServiceClientConstructor } } };
    };
    const { RecallService } = packages.tessera.recall.v1;
    this.client = new RecallService(address, grpc.credentials.createInsecure()) as never;
  }

  begin(message: object, options: grpc.CallOptions = {}) {
    let call: grpc.ClientUnaryCall | undefined;
    const reply = new Promise<GrpcReply>((resolve) => {
      call = this.client.Recall(message, options, (error, answer) => {
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
    return { reply, cancel: () => call?.cancel() };
  }

  recall(message: object, options: grpc.CallOptions = {}): Promise<GrpcReply> {
    return this.begin(message, options).reply;
  }

  close(): void {
    this.client.close();
  }
}
