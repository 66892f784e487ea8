import { expecting } from '@tessera/errors';
import type { EncoderMark, TextEmbedder } from './text-embedder.js';

const invalid = expecting('CATALOGUE_INVALID');

/** Embedder of codebooks whose encoder is absent here: vectors are taken, texts are refused. */
export class UnservedEmbedder implements TextEmbedder {
  readonly name: string;
  readonly dimension: number;
  private readonly expected: string;

  constructor({ modelDigest, tokensDigest, computeType, dimension }: EncoderMark) {
    this.dimension = dimension;
    const tokens = tokensDigest === undefined ? '' : ` with tokens ${tokensDigest}`;
    const needed = `model ${modelDigest}${tokens} in ${computeType}`;
    this.name = `none: embedding.models lacks ${needed}, which made the codebooks' vectors`;
    this.expected = `a vector, or ${needed} in embedding.models, which made the codebooks' vectors`;
  }

  embed(texts: readonly string[], fieldOf: (index: number) => string): Promise<never> {
    return Promise.reject(invalid(fieldOf(0), this.expected, texts[0]));
  }
}
