import type { Config } from '@tessera/config';
import { EmbeddingModels, parseModelSpecs } from '@tessera/embedding';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';

/** The models of texts that the configuration names. */
export function openEmbedding({ embedding }: Pick<Config, 'embedding'>): Promise<EmbeddingModels> {
  const { models, computeType, threadCount, requestTextsMax, textBytesMax } = embedding;
  const { passTokensMax, passTextsMax, passTimeTargetMs, queueTextsMax } = embedding;
  return EmbeddingModels.open({
    specs: parseModelSpecs(models, 'embedding.models'),
    computeType,
    limits: {
      threadCount,
      tokensMax: passTokensMax,
      textsMax: passTextsMax,
      timeTargetUs: passTimeTargetMs * MICROSECONDS_PER_MILLISECOND,
      requestTextsMax,
      textBytesMax,
      queueTextsMax,
    },
  });
}
