import { Controller, Get } from '@nestjs/common';
import type { EmbeddingModels } from '@tessera/embedding';
import { serviceVersion } from '@tessera/lifecycle';
import type { RelevanceScorer } from '@tessera/relevance';

/** The models of texts, as routes need them. */
export type TextModels = Pick<
  EmbeddingModels,
  'embed' | 'embedEach' | 'facts' | 'limits' | 'computeType'
>;

/** ID by which clients ask for the model that scores texts; any name will do. */
const RELEVANCE_ID = 'relevance';

interface ServedModel {
  readonly id: string;
  /** Digest of configuration and weights. */
  readonly digest: string;
}

/** The models of texts that this process serves, under the names that clients ask by. */
export class ServedModels {
  constructor(
    private readonly parts: {
      readonly embedding: TextModels;
      readonly relevance?: Pick<RelevanceScorer, 'profile'> | undefined;
    },
  ) {}

  get embedding(): TextModels {
    return this.parts.embedding;
  }
  get scorer(): ServedModel | undefined {
    const { relevance } = this.parts;
    return relevance && { id: RELEVANCE_ID, digest: relevance.profile().model };
  }
  get all(): readonly ServedModel[] {
    const encoders = this.embedding.facts.map(({ name: id, digest }) => ({ id, digest }));
    return this.scorer === undefined ? encoders : [...encoders, this.scorer];
  }
}

/** Routes that clients of other services ask before they send texts. */
@Controller()
export class ModelsHttpController {
  constructor(private readonly models: ServedModels) {}

  /** Lists models as OpenAI and vLLM do. */
  @Get('v1/models')
  list(): object {
    const data = this.models.all.map(({ id, digest }) => ({
      id,
      object: 'model',
      created: 0,
      owned_by: 'tessera',
      digest,
    }));
    return { object: 'list', data };
  }

  /**
   * Describes the first model that makes vectors, as text-embeddings-inference describes its only
   * one.
   */
  @Get('info')
  info(): object {
    const { embedding, scorer } = this.models;
    const [first] = embedding.facts;
    const served = first === undefined ? scorer : { id: first.name, digest: first.digest };
    return {
      model_id: served?.id ?? '',
      model_sha: served?.digest ?? '',
      model_dtype: first === undefined ? '' : embedding.computeType,
      model_type: first === undefined ? { reranker: {} } : { embedding: {} },
      max_client_batch_size: embedding.limits.requestTextsMax,
      auto_truncate: true,
      version: serviceVersion(),
    };
  }
}
