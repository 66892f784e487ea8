/** Times of one node with one model, and the size of its keys and values. */
export interface ModelCosts {
  /** Microseconds of a prompt token, and more per token of context before it. */
  readonly tokenUs: number;
  readonly pairUs: number;
  /** Microseconds of a pass whatever is in it. */
  readonly passUs: number;
  /** Rows of an answer in each of its steps. */
  readonly rows: number;
  /** Microseconds of a row, and more per token of context. */
  readonly rowUs: number;
  readonly rowPairUs: number;
  readonly kvBytesPerToken: number;
}

/**
 * `8x512` and `0.6b`: BF16 on two cores of an AMD EPYC (`bench -- engine --stage alone`): prefill
 * of 512 tokens 236 and 4,123 ms, 192 rows behind it 91 and 1,718 ms, attention's part of it as
 * measured for the second and by its operations for the first.
 * `70b`: LLaMA2-70B on eight A800, the published node, by arithmetic: half of 8 x 312
 * TFLOPS for prompts, six tenths of 8 x 2 TB/s for steps.
 */
export const MODELS = {
  '8x512': {
    tokenUs: 410,
    pairUs: 0.2,
    passUs: 300,
    rows: 50,
    rowUs: 410,
    rowPairUs: 0.2,
    kvBytesPerToken: 8192,
  },
  '0.6b': {
    tokenUs: 7280,
    pairUs: 3,
    passUs: 2000,
    rows: 50,
    rowUs: 7280,
    rowPairUs: 3,
    kvBytesPerToken: 114_688,
  },
  '70b': {
    tokenUs: 112,
    pairUs: 0.0021,
    passUs: 14_600,
    rows: 1,
    rowUs: 112,
    rowPairUs: 0.034,
    kvBytesPerToken: 327_680,
  },
} as const satisfies Readonly<Record<string, ModelCosts>>;

export type ModelName = keyof typeof MODELS;

/** A step of an answer behind so many tokens, without the fixed part of its pass. */
export const stepUs = ({ rows, rowUs, rowPairUs }: ModelCosts, context: number): number =>
  rows * (rowUs + rowPairUs * context);
