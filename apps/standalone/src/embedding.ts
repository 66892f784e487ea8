import type { Config } from '@tessera/config';
import { EmbeddingModels, PASS_LIMITS, parseModelSpecs, TEXT_LIMITS } from '@tessera/embedding';

/**
 * The models of texts that the configuration names.
 * @param requestTextsMax texts of a request
 */
export function openEmbedding(
  { embedding }: Pick<Config, 'embedding'>,
  requestTextsMax: number = TEXT_LIMITS.requestTextsMax,
): Promise<EmbeddingModels> {
  const { models, computeType, threadCount, passTokensMax, queueTextsMax } = embedding;
  return EmbeddingModels.open({
    specs: parseModelSpecs(models, 'embedding.models'),
    computeType,
    limits: {
      threadCount,
      tokensMax: passTokensMax,
      ...PASS_LIMITS,
      ...TEXT_LIMITS,
      requestTextsMax,
      queueTextsMax,
    },
  });
}
