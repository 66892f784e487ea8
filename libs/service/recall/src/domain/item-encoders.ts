import type { EncoderMark, ItemEncoders, TextEmbedder } from '@tessera/catalogue';
import type { EmbeddingModels, ModelFacts } from '@tessera/embedding';
import { expecting } from '@tessera/errors';

const invalid = expecting('CATALOGUE_INVALID');

/** Part of the models of texts in use here. */
export type TextModels = Pick<
  EmbeddingModels,
  'embed' | 'facts' | 'limits' | 'computeType' | 'problemOf'
>;

/** The models of texts as encoders of items: the one that a digest names. */
export class ModelEncoders implements ItemEncoders {
  constructor(private readonly models: TextModels) {}

  find(mark: EncoderMark): TextEmbedder | undefined {
    const { facts, computeType } = this.models;
    const found = facts.find(
      ({ digest, tokensDigest }) =>
        digest === mark.modelDigest && tokensDigest === (mark.tokensDigest ?? tokensDigest),
    );
    if (found === undefined || computeType !== mark.computeType) return undefined;
    const isNamedWhole = mark.tokensDigest !== undefined;
    return new ModelEmbedder(
      this.models,
      { name: found.name, dimension: found.dimension, isNamedWhole },
      Math.min(mark.dimension, found.dimension),
    );
  }
}

/** A model's vectors of items' texts: the bits of `npm run embed`. */
class ModelEmbedder implements TextEmbedder {
  readonly name: string;

  constructor(
    private readonly models: TextModels,
    private readonly model: Pick<ModelFacts, 'name' | 'dimension'> & { isNamedWhole: boolean },
    readonly dimension: number,
  ) {
    const unnamed = model.isNamedWhole ? '' : ' (the codebooks do not say with which tokenizer)';
    this.name = `model ${model.name}${unnamed}`;
  }

  async embed(
    texts: readonly string[],
    fieldOf: (index: number) => string,
  ): Promise<readonly Float32Array[]> {
    for (const [index, text] of texts.entries()) {
      const problem = this.models.problemOf(text);
      if (problem !== undefined) throw invalid(fieldOf(index), problem.expected, problem.got);
    }
    const { requestTextsMax } = this.models.limits;
    const { name: model, dimension: whole } = this.model;
    const dimensions = this.dimension === whole ? undefined : this.dimension;
    const made: Float32Array[] = [];
    // One request after another, so that a large batch leaves others room in the queue.
    for (let first = 0; first < texts.length; first += requestTextsMax) {
      const part = texts.slice(first, first + requestTextsMax);
      const { vectors } = await this.models.embed({ model, texts: part, dimensions });
      for (const vector of vectors) made.push(vector);
    }
    return made;
  }
}
