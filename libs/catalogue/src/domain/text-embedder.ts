/** Vectors of texts, from which items get their semantic IDs. */
export interface TextEmbedder {
  /** Numbers of a vector. */
  readonly dimension: number;
  /**
   * A vector per text, in their order.
   * @throws TesseraError CATALOGUE_INVALID of the text at fault; `fieldOf` names its field
   */
  embed(
    texts: readonly string[],
    fieldOf: (index: number) => string,
  ): Promise<readonly Float32Array[]>;
}
