import { type Asked, ServiceClient } from '@tessera/client';
import type { WireRecallRequest, WireRecallResponse } from '@tessera/contracts';

const REPLY_BYTES_MAX = 64 << 20;

/** A gRPC client of RecallService that repeats nothing. */
export class RecallClient {
  private readonly client: ServiceClient<'tessera.recall.v1.RecallService'>;

  constructor(address: string) {
    const channel = { 'grpc.max_receive_message_length': REPLY_BYTES_MAX };
    this.client = new ServiceClient('tessera.recall.v1.RecallService', address, { channel });
  }

  /** Rejects with the service's own words and the code of the error table. */
  recall(question: Asked<WireRecallRequest>, deadlineMs: number): Promise<WireRecallResponse> {
    return this.client.call('Recall', question, { deadline: Date.now() + deadlineMs });
  }

  close(): void {
    this.client.close();
  }
}
