/** Report of a node that scores texts in `/health`. */
export interface RelevanceProfile {
  /** Digest of the weights, and name of the template: nodes that differ score differently. */
  readonly model: string;
  readonly template: string;
  readonly documentsMax: number;
  /** Predicted microseconds of a token. */
  readonly tokenUs: number;
  /** Predicted microseconds of all that the node has to score. */
  readonly backlogUs: number;
}
