import type { BindingOptions, ScoreNormCode, SubmitBatch } from '@tessera/native';
import type { EngineRequest, LevelTokens, ScoreNorm } from './engine.js';

const SCORE_NORM_CODES: Readonly<Record<ScoreNorm, ScoreNormCode>> = {
  full: 0,
  level: 1,
  allowed: 2,
};

/**
 * Largest value that crosses in a Uint32Array; a larger count is clamped to it and refused by the
 * engine's own limit.
 */
const UINT32_MAX = 0xffff_ffff;

const uint32 = (value: number): number => Math.min(Math.max(Math.trunc(value), 0), UINT32_MAX);

export interface Ticketed {
  readonly ticket: number;
  readonly request: EngineRequest;
}

function offsetsOf(lengths: readonly number[]): Uint32Array {
  const offsets = new Uint32Array(lengths.length + 1);
  for (const [i, length] of lengths.entries()) offsets[i + 1] = (offsets[i] ?? 0) + length;
  return offsets;
}

/** Requests as the addon takes them: a structure of arrays. */
export function compileBatch(requests: readonly Ticketed[]): SubmitBatch {
  const promptOffsets = offsetsOf(requests.map(({ request }) => request.promptTokens.length));
  const promptTokens = new Int32Array(promptOffsets.at(-1) ?? 0);
  for (const [i, { request }] of requests.entries()) {
    promptTokens.set(request.promptTokens, promptOffsets[i]);
  }
  return {
    tickets: Uint32Array.from(requests, ({ ticket }) => ticket),
    bindings: Uint32Array.from(requests, ({ request }) => request.binding.slot),
    promptOffsets,
    promptTokens,
    widthOffsets: offsetsOf(requests.map(({ request }) => request.widths.length)),
    widths: Uint32Array.from(requests.flatMap(({ request }) => request.widths.map(uint32))),
    resultCounts: Uint32Array.from(requests, ({ request }) => uint32(request.resultCount)),
    itemsPerSid: Uint32Array.from(requests, ({ request }) => uint32(request.itemsPerSid)),
    scoreNorms: Uint8Array.from(requests, ({ request }) => SCORE_NORM_CODES[request.scoreNorm]),
    budgetsUs: Float64Array.from(requests, ({ request }) => request.budgetUs),
  };
}

export function compileBinding(tokens: LevelTokens): BindingOptions {
  const levelOffsets = offsetsOf(tokens.levels.map((level) => level.length));
  const levelTokens = new Int32Array(levelOffsets.at(-1) ?? 0);
  for (const [i, level] of tokens.levels.entries()) levelTokens.set(level, levelOffsets[i]);
  return { levelOffsets, levelTokens, terminalTokens: Int32Array.from(tokens.terminal) };
}
