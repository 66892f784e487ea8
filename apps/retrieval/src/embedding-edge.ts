import type { EmbeddingAnswer, EmbeddingModels, EmbeddingRequest } from '@tessera/embedding';
import { TesseraError } from '@tessera/errors';
import { MICROSECONDS_PER_MILLISECOND, MILLISECONDS_PER_SECOND } from '@tessera/units';
import { budgetOf, type EdgeCall, type EdgeParts } from './recall-edge.js';

export interface EmbeddingEdgeParts
  extends Pick<EdgeParts, 'readiness' | 'limits' | 'metrics' | 'log' | 'tracing'> {
  readonly models: Pick<EmbeddingModels, 'embed'>;
}

/** Admits, answers, counts and traces requests for vectors of texts, for both edges. */
export class EmbeddingEdge {
  constructor(private readonly parts: EmbeddingEdgeParts) {}

  /** `parse` may throw; its refusals are counted like any other. */
  embed(parse: () => EmbeddingRequest, call: EdgeCall): Promise<EmbeddingAnswer> {
    const { metrics, log, tracing } = this.parts;
    const { edge, caller } = call;
    const began = performance.now();
    const seconds = () => (performance.now() - began) / MILLISECONDS_PER_SECOND;
    return tracing.serve('embed', caller, async (span) => {
      try {
        const answer = await this.admitted(parse, call, began);
        metrics.observeEmbed({ edge, code: 'OK', seconds: seconds() });
        span.set({ edge });
        return answer;
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (error.code === 'INTERNAL') log.error({ err: thrown, edge }, 'an embed failed');
        metrics.observeEmbed({ edge, code: error.code, seconds: seconds() });
        throw error;
      }
    });
  }

  private async admitted(
    parse: () => EmbeddingRequest,
    call: EdgeCall,
    began: number,
  ): Promise<EmbeddingAnswer> {
    const { readiness, limits, models } = this.parts;
    if (!readiness.takesCalls) {
      throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.description}`);
    }
    const request = parse();
    const budgetMs = budgetOf(call, undefined, limits) / MICROSECONDS_PER_MILLISECOND;
    return models.embed(request, { signal: call.signal, endsAtMs: began + budgetMs });
  }
}
