import type {
  BindingOptions,
  PriorityCode,
  RequestKindCode,
  ScoreNormCode,
  SubmitBatch,
} from '@tessera/native';
import {
  type EngineWork,
  type LevelTokens,
  NO_ITEM,
  type Priority,
  type PromptDigests,
  type ScoreNorm,
} from './engine.js';
import type { OwnFields } from './request-kinds.js';

const SCORE_NORM_CODES: Readonly<Record<ScoreNorm, ScoreNormCode>> = {
  full: 0,
  level: 1,
  allowed: 2,
};

const PRIORITY_CODES: Readonly<Record<Priority, PriorityCode>> = { high: 0, normal: 1, low: 2 };
const NO_DIGESTS: PromptDigests = { template: '', codebook: '' };

/**
 * Largest value that crosses in a Uint32Array; a larger count is clamped to it and refused by the
 * engine's own limit.
 */
const UINT32_MAX = 0xffff_ffff;

const uint32 = (value: number): number => Math.min(Math.max(Math.trunc(value), 0), UINT32_MAX);

/** What every kind of request has. */
export type EngineAsk = Omit<EngineWork, 'scoreNorm'>;

export interface Ticketed {
  readonly ticket: number;
  readonly request: EngineAsk;
  /** Of its kind, and the fields that only some kinds have. */
  readonly code: RequestKindCode;
  readonly own: OwnFields;
  /** Slot of the adapter, as the addon numbers it. */
  readonly adapter: number;
}

function offsetsOf(lengths: readonly number[]): Uint32Array {
  const offsets = new Uint32Array(lengths.length + 1);
  let end = 0;
  for (let i = 0; i < lengths.length; i++) {
    end += lengths[i] as number;
    offsets[i + 1] = end;
  }
  return offsets;
}

/** A number of each request: several times as fast as Uint32Array.from with a function. */
function filled<Numbers extends { [index: number]: number }, Each>(
  numbers: Numbers,
  each: readonly Each[],
  numberOf: (one: Each) => number,
): Numbers {
  for (let i = 0; i < each.length; i++) numbers[i] = numberOf(each[i] as Each);
  return numbers;
}

const words = <Each>(each: readonly Each[], numberOf: (one: Each) => number): Uint32Array =>
  filled(new Uint32Array(each.length), each, numberOf);

const octets = <Each>(each: readonly Each[], numberOf: (one: Each) => number): Uint8Array =>
  filled(new Uint8Array(each.length), each, numberOf);

/** Requests as the addon takes them: a structure of arrays. */
export function compileBatch(requests: readonly Ticketed[]): SubmitBatch {
  const promptOffsets = offsetsOf(requests.map(({ request }) => request.promptTokens.length));
  const promptTokens = new Int32Array(promptOffsets.at(-1) ?? 0);
  for (const [i, { request }] of requests.entries()) {
    promptTokens.set(request.promptTokens, promptOffsets[i]);
  }
  const own = requests.map((ticketed) => ticketed.own);
  const sids = own.map((fields) => fields.sids);
  return {
    tickets: words(requests, ({ ticket }) => ticket),
    bindings: words(requests, ({ request }) => request.binding.slot),
    adapters: words(requests, ({ adapter }) => adapter),
    kinds: octets(requests, ({ code }) => code),
    priorities: octets(requests, ({ request }) => PRIORITY_CODES[request.priority]),
    promptOffsets,
    promptTokens,
    users: requests.map(({ request }) => request.kv?.userId ?? ''),
    prefixTokens: words(requests, ({ request }) => request.kv?.prefixTokens ?? 0),
    keepTokens: words(requests, ({ request }) => request.kv?.keepTokens ?? 0),
    exactKv: octets(requests, ({ request }) => (request.kv?.wantsExact ? 1 : 0)),
    widthOffsets: offsetsOf(own.map(({ widths }) => widths.length)),
    widths: Uint32Array.from(own.flatMap(({ widths }) => widths.map(uint32))),
    resultCounts: words(own, ({ resultCount }) => uint32(resultCount)),
    itemsPerSid: words(own, ({ itemsPerSid }) => uint32(itemsPerSid)),
    partials: octets(own, ({ allowsPartial }) => (allowsPartial === true ? 1 : 0)),
    watchedItems: words(own, ({ watchedItem = NO_ITEM }) => watchedItem),
    trees: octets(own, ({ wantsTree }) => (wantsTree === true ? 1 : 0)),
    sidOffsets: offsetsOf(sids.map((list) => list.length)),
    codeOffsets: offsetsOf(sids.flat().map((sid) => sid.length)),
    sidCodes: Uint32Array.from(sids.flat(2).map(uint32)),
    scoreNorms: octets(own, ({ scoreNorm }) => SCORE_NORM_CODES[scoreNorm]),
    budgetsUs: filled(
      new Float64Array(requests.length),
      requests,
      ({ request }) => request.budgetUs,
    ),
  };
}

export function compileBinding(tokens: LevelTokens, digests = NO_DIGESTS): BindingOptions {
  const levelOffsets = offsetsOf(tokens.levels.map((level) => level.length));
  const levelTokens = new Int32Array(levelOffsets.at(-1) ?? 0);
  for (const [i, level] of tokens.levels.entries()) levelTokens.set(level, levelOffsets[i]);
  return {
    levelOffsets,
    levelTokens,
    terminalTokens: Int32Array.from(tokens.terminal),
    templateDigest: digests.template,
    codebookDigest: digests.codebook,
  };
}
