import * as grpc from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';
import { protoSchema, type WireRecallResponse } from '@tessera/contracts';

const REPLY_BYTES_MAX = 64 << 20;

/** A request in the words of the wire; what is left out gets its default. */
export interface RecallQuestion {
  readonly userId?: string;
  readonly history?: { readonly itemIds: readonly string[] };
  readonly widths?: readonly number[];
  readonly resultCount?: number;
  readonly skipUnknownItems?: boolean;
}

type Unary = (
  question: RecallQuestion,
  options: grpc.CallOptions,
  done: (error: grpc.ServiceError | null, answer: WireRecallResponse) => void,
) => void;

/** A gRPC client of RecallService, as a caller in another process would make one. */
export class RecallClient {
  private readonly client: grpc.Client & { Recall: Unary };

  constructor(address: string) {
    const schema = protoSchema as Parameters<typeof protoLoader.fromJSON>[0];
    const definition = protoLoader.fromJSON(schema, { defaults: true, longs: Number });
    const packages = grpc.loadPackageDefinition(definition) as never as {
      tessera: { recall: { v1: { RecallService: grpc.ServiceClientConstructor } } };
    };
    const { RecallService } = packages.tessera.recall.v1;
    this.client = new RecallService(address, grpc.credentials.createInsecure(), {
      'grpc.max_receive_message_length': REPLY_BYTES_MAX,
    }) as never;
  }

  /** Rejects with the service's own words and the code of the error table. */
  recall(question: RecallQuestion, deadlineMs: number): Promise<WireRecallResponse> {
    return new Promise((resolve, reject) => {
      this.client.Recall(question, { deadline: Date.now() + deadlineMs }, (error, answer) =>
        error ? reject(error) : resolve(answer),
      );
    });
  }

  close(): void {
    this.client.close();
  }
}
