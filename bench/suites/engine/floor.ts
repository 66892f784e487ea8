import {
  deltaLayers,
  LEVEL_CODES,
  LEVELS,
  type ModelShape,
  VOCABULARY,
} from '../../models/model-shape.js';

/** Decode passes: the first level is selected from the prompt's last row. */
const DECODE_PASSES = LEVELS - 1;

/** The machine's ceilings, measured. */
export interface Peaks {
  /** Floating-point (or, of W8A8, integer) operations a second in matrix products. */
  readonly operations: number;
  /** The same for products of the attention, which are never quantised. */
  readonly attentionOperations: number;
  /** Bytes a second that can be read from memory. */
  readonly bandwidth: number;
}

export interface NumberFormat {
  /** Bytes of a weight of the layers. */
  readonly weightBytes: number;
  /** Bytes of a weight of the embedding, which is the head. */
  readonly headBytes: number;
  /** Bytes of a number in the keys and values. */
  readonly kvBytes: number;
}

export interface Work {
  /** Operations in products with weights. */
  readonly operations: number;
  readonly attentionOperations: number;
  /** Weights, keys and values that must be read once. */
  readonly bytes: number;
}

export function layerParameters(shape: ModelShape): number {
  const { hidden, headDim, inner, delta } = shape;
  const nets = deltaLayers(shape);
  const gates = delta ? shape.heads : 0;
  const attention = hidden * headDim * (2 * (shape.heads + shape.kvHeads) + gates);
  let net = 0;
  if (delta) {
    const { keyHeads, keyDim, valueHeads, valueDim } = delta;
    net = hidden * (2 * keyHeads * keyDim + valueHeads * (3 * valueDim + 2));
  }
  return (shape.layers - nets) * attention + nets * net + shape.layers * 3 * hidden * inner;
}

export function kvNumbersPerPosition(shape: ModelShape): number {
  return 2 * (shape.layers - deltaLayers(shape)) * shape.kvHeads * shape.headDim;
}

/** Of the states of a prompt, which are F32 whatever the type. */
export function stateNumbers(shape: ModelShape): number {
  const { valueHeads = 0, keyDim = 0, valueDim = 0 } = shape.delta ?? {};
  return deltaLayers(shape) * valueHeads * keyDim * valueDim;
}

/** Operations of scores and weighted values for rows that see so many positions in all. */
function attentionOperations(shape: ModelShape, positions: number): number {
  return 4 * (shape.layers - deltaLayers(shape)) * shape.heads * shape.headDim * positions;
}

/** A row's key and query through each state; a prompt's row changes it as well. */
function stateOperations(shape: ModelShape, rows: number, isPrompt: boolean): number {
  return (isPrompt ? 6 : 4) * stateNumbers(shape) * rows;
}

const STATE_BYTES = 4;

/** A prompt computed from its first token; what it writes is read again by later rows. */
export function prefillWork(shape: ModelShape, tokens: number, format: NumberFormat): Work {
  const parameters = layerParameters(shape);
  return {
    operations: 2 * parameters * tokens,
    attentionOperations:
      attentionOperations(shape, (tokens * (tokens + 1)) / 2) +
      stateOperations(shape, tokens, true),
    bytes: parameters * format.weightBytes + kvNumbersPerPosition(shape) * tokens * format.kvBytes,
  };
}

/** One step of `users` requests with `width` beams each over prompts of that length. */
export function stepWork(
  shape: ModelShape,
  { users, width, promptTokens }: { users: number; width: number; promptTokens: number },
  format: NumberFormat,
): Work {
  const parameters = layerParameters(shape);
  const rows = users * width;
  const positions = kvNumbersPerPosition(shape) * promptTokens * users;
  return {
    operations: 2 * parameters * rows,
    attentionOperations:
      attentionOperations(shape, promptTokens * rows) + stateOperations(shape, rows, false),
    bytes:
      parameters * format.weightBytes +
      positions * format.kvBytes +
      stateNumbers(shape) * users * STATE_BYTES,
  };
}

/** Logits of a level's codes; where scores are over the whole vocabulary, of all of it. */
export function headWork(
  shape: ModelShape,
  { rows, isFull }: { rows: number; isFull: boolean },
  format: NumberFormat,
): Work {
  const weights = (isFull ? (shape.vocabulary ?? VOCABULARY) : LEVEL_CODES) * shape.hidden;
  return {
    operations: 2 * weights * rows,
    attentionOperations: 0,
    bytes: weights * format.headBytes,
  };
}

/** The larger of computing and reading, as if they overlapped without loss. Seconds. */
export function floorSeconds(work: Work, peaks: Peaks): number {
  const compute =
    work.operations / peaks.operations + work.attentionOperations / peaks.attentionOperations;
  return Math.max(compute, work.bytes / peaks.bandwidth);
}

/** Milliseconds of the parts of a recall at their floors. */
export interface RecallFloors {
  readonly prefill: number;
  readonly decode: number;
  readonly head: number;
}

/** A prompt, its beams' steps, and the head over the whole vocabulary for all of them. */
export function recallFloors(
  { shape, format }: { readonly shape: ModelShape; readonly format: NumberFormat },
  { promptTokens, width }: { readonly promptTokens: number; readonly width: number },
  peaks: Peaks,
): RecallFloors {
  const step = stepWork(shape, { users: 1, width, promptTokens }, format);
  const heads = [1, ...Array<number>(DECODE_PASSES).fill(width)].map((rows) =>
    floorSeconds(headWork(shape, { rows, isFull: true }, format), peaks),
  );
  return {
    prefill: 1000 * floorSeconds(prefillWork(shape, promptTokens, format), peaks),
    decode: 1000 * DECODE_PASSES * floorSeconds(step, peaks),
    head: 1000 * heads.reduce((sum, seconds) => sum + seconds, 0),
  };
}
