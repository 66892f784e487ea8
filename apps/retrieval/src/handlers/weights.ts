import { type Call, type Read, service, submissionOf } from '@tessera/call';
import type {
  WireWeightsGetRequest,
  WireWeightsGetResponse,
  WireWeightsRollbackRequest,
  WireWeightsRollbackResponse,
  WireWeightsUpdateRequest,
  WireWeightsUpdateResponse,
} from '@tessera/contracts';
import { text } from '@tessera/grpc';
import type { WeightsEdge } from '../weights-edge.js';

/** Whole sets of weights. */
export function weightsHandlers(edge: WeightsEdge) {
  return service('tessera.weights.v1.WeightsService', {
    Update: async (
      read: Read<WireWeightsUpdateRequest>,
      call: Call,
    ): Promise<WireWeightsUpdateResponse> => {
      const { name, endAdapters } = read();
      const wanted = { name: text('name', name), endAdapters };
      const updated = await edge.update(call.caller, wanted, submissionOf(call));
      const { digest, drainedUs, swappedUs } = updated;
      return { digest, drainedUs, swappedUs };
    },
    Rollback: async (
      read: Read<WireWeightsRollbackRequest>,
      call: Call,
    ): Promise<WireWeightsRollbackResponse> => {
      read();
      const { serving, ...update } = await edge.rollBack(call.caller, submissionOf(call));
      const { digest, drainedUs, swappedUs } = update;
      return { name: serving, digest, drainedUs, swappedUs };
    },
    Get: (read: Read<WireWeightsGetRequest>): WireWeightsGetResponse => {
      read();
      const { serving, previous, digest } = edge.get();
      return { name: serving, digest, previous };
    },
  });
}
