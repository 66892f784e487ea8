/** A request of a trace or of drawn users. */
export interface Arrival {
  readonly atUs: number;
  /** `append`: its prompt is computed and kept, and nothing is answered. */
  readonly kind: 'recall' | 'append';
  /** Decides the owner. */
  readonly user: string;
  readonly promptTokens: number;
  /** Steps of the answer, one after the other. */
  readonly steps: number;
  /** Whole blocks of the prompt, in order; equal numbers are equal contents. */
  readonly blocks: readonly number[];
}

export interface Workload {
  /** In the order of their time. */
  readonly arrivals: readonly Arrival[];
  readonly blockTokens: number;
  readonly name: string;
}
