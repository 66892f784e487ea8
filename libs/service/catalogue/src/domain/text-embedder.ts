/** Vectors of texts, from which items get their semantic IDs. */
export interface TextEmbedder {
  /** How texts become vectors, for people to read. */
  readonly name: string;
  /** Numbers of a vector. */
  readonly dimension: number;
  /**
   * A vector per text, in their order. Called with all texts of a batch of changes at once.
   * @throws TesseraError CATALOGUE_INVALID of the text at fault; `fieldOf` names its field.
   * ENGINE_OVERLOADED, MODEL_NOT_FINITE of an encoder
   */
  embed(
    texts: readonly string[],
    fieldOf: (index: number) => string,
  ): Promise<readonly Float32Array[]>;
}

/** Maker of the codebooks' vectors: an encoder, by its content, and the type of its products. */
export interface EncoderMark {
  readonly modelDigest: string;
  /** Digest of its tokenizer and the tokens that it uses; undefined: any (an older file). */
  readonly tokensDigest: string | undefined;
  readonly computeType: string;
  /** Numbers of a vector: the first ones of the encoder's. */
  readonly dimension: number;
}

/** The encoders of this process. */
export interface ItemEncoders {
  /** Undefined where none has the digests, or it computes in another type. */
  find(mark: EncoderMark): TextEmbedder | undefined;
}
