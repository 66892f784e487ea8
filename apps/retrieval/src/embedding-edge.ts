import type { Call } from '@tessera/call';
import type {
  EachAnswer,
  EmbeddingAnswer,
  EmbeddingCall,
  EmbeddingModels,
  EmbeddingRequest,
} from '@tessera/embedding';
import { TesseraError } from '@tessera/errors';
import { MICROSECONDS_PER_MILLISECOND, MILLISECONDS_PER_SECOND } from '@tessera/units';
import { embeddingAttributes } from './gen-ai-attributes.js';
import type { EdgeParts } from './recall-edge.js';

export interface EmbeddingEdgeParts
  extends Pick<EdgeParts, 'readiness' | 'metrics' | 'log' | 'tracing'> {
  readonly models: Pick<EmbeddingModels, 'embed' | 'embedEach'>;
}

/** Admits, answers, counts and traces requests for vectors of texts, for both edges. */
export class EmbeddingEdge {
  constructor(private readonly parts: EmbeddingEdgeParts) {}

  /** `parse` may throw; its refusals are counted like any other. */
  embed(parse: () => EmbeddingRequest, call: Call): Promise<EmbeddingAnswer> {
    return this.served(parse, call, (request, own) => this.parts.models.embed(request, own));
  }

  /** Embeds texts; a text that can have no vector fails for itself if `parse` says so. */
  embedEach(
    parse: () => EmbeddingRequest & { readonly failures: 'whole' | 'each' },
    call: Call,
  ): Promise<EachAnswer> {
    const { models } = this.parts;
    return this.served(parse, call, async (request, own) => {
      if (request.failures === 'each') return models.embedEach(request, own);
      return Object.assign(await models.embed(request, own), { failures: [] });
    });
  }

  private served<Asked, Answer extends Omit<EmbeddingAnswer, 'vectors'>>(
    parse: () => Asked,
    call: Call,
    act: (asked: Asked, call: EmbeddingCall) => Promise<Answer>,
  ): Promise<Answer> {
    const { metrics, log, tracing } = this.parts;
    const { edge, trace } = call;
    const began = performance.now();
    const seconds = () => (performance.now() - began) / MILLISECONDS_PER_SECOND;
    return tracing.serve('embed', trace, async (span) => {
      try {
        const answer = await this.admitted(parse, call, act);
        metrics.observeCall('embed', { edge, code: 'OK', seconds: seconds() });
        span.set({ edge, ...embeddingAttributes(answer) });
        return answer;
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (error.code === 'INTERNAL') log.error({ err: thrown, edge }, 'embedding request failed');
        metrics.observeCall('embed', { edge, code: error.code, seconds: seconds() });
        throw error;
      }
    });
  }

  private async admitted<Asked, Answer>(
    parse: () => Asked,
    call: Call,
    act: (asked: Asked, call: EmbeddingCall) => Promise<Answer>,
  ): Promise<Answer> {
    const { readiness } = this.parts;
    if (!readiness.takesCalls) {
      throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.description}`);
    }
    const request = parse();
    call.admit(NORMAL);
    const endsAtMs = performance.now() + call.leftUs / MICROSECONDS_PER_MILLISECOND;
    return act(request, { signal: call.signal, endsAtMs });
  }
}

/** Requests for vectors have no priority. */
const NORMAL = 1;
