import {
  COMPLETENESS,
  type Completions,
  KV_TIERS,
  PASS_SLOTS,
  TIMING_SLOTS,
  TREE_SLOTS,
  VERDICTS,
} from '@tessera/native';
import type {
  BeamTree,
  EngineAnswer,
  EngineAppended,
  EnginePass,
  EnginePath,
  EngineScores,
  EngineTimings,
  ItemFate,
} from './engine.js';
import type { KvFound } from './kv-pool.js';

const fieldsOf = (slots: readonly string[]): readonly string[] => slots.map((name) => `${name}Us`);
const TIMING_FIELDS = fieldsOf(TIMING_SLOTS);
const PASS_FIELDS = fieldsOf(PASS_SLOTS.slice(2));

/** The numbers that begin at `first`, as fields of these names. */
function readSlots<T>(fields: readonly string[], numbers: Float32Array, first: number): T {
  const read: Record<string, number> = {};
  for (let slot = 0; slot < fields.length; slot++) {
    read[fields[slot] as string] = numbers[first + slot] ?? 0;
  }
  return read as T;
}

function readTimings({ timingsUs }: Completions, index: number): EngineTimings {
  return readSlots(TIMING_FIELDS, timingsUs, index * TIMING_SLOTS.length);
}

function readPasses({ passOffsets, passes }: Completions, index: number): EnginePass[] {
  const [begin = 0, end = 0] = passOffsets.subarray(index, index + 2);
  return Array.from({ length: end - begin }, (_, i) => {
    const first = (begin + i) * PASS_SLOTS.length;
    const [rows = 0, isDecode = 0] = passes.subarray(first, first + 2);
    const kind = isDecode === 1 ? 'decode' : 'prefill';
    return { kind, rows, ...readSlots<PassTimes>(PASS_FIELDS, passes, first + 2) };
  });
}

type PassTimes = Omit<EnginePass, 'kind' | 'rows'>;

function readKv(completions: Completions, index: number): KvFound {
  const { kvTokens, kvLossy, kvInheritedTokens, kvVersionsBack, kvWaitUs } = completions;
  const at = (tier: number): number => kvTokens[index * KV_TIERS.length + tier] ?? 0;
  return {
    deviceTokens: at(0),
    hostTokens: at(1),
    diskTokens: at(2),
    lossy: kvLossy[index] === 1,
    inheritedTokens: kvInheritedTokens[index] ?? 0,
    versionsBack: kvVersionsBack[index] ?? 0,
    waitUs: kvWaitUs[index] ?? 0,
  };
}

function readPaths(completions: Completions, index: number): EnginePath[] {
  const { pathOffsets, pathScores, codeOffsets, pathCodes } = completions;
  const paths: EnginePath[] = [];
  for (let p = pathOffsets[index] ?? 0; p < (pathOffsets[index + 1] ?? 0); p++) {
    const sid = [...pathCodes.subarray(codeOffsets[p], codeOffsets[p + 1])];
    paths.push({ sid, score: pathScores[p] ?? 0 });
  }
  return paths;
}

function readFate(completions: Completions, index: number): ItemFate | undefined {
  const verdict = VERDICTS[completions.verdicts[index] ?? -1] ?? 'open';
  if (verdict === 'open') return undefined;
  return {
    verdict,
    rank: completions.verdictRanks[index] ?? 0,
    step: completions.prunedSteps[index] ?? 0,
    score: completions.watchedScores[index] ?? 0,
    cutScore: completions.cutScores[index] ?? 0,
    attribute: completions.cappedAttributes[index] ?? '',
  };
}

/** A copy: the answer outlives its batch. */
function readTree(completions: Completions, index: number): BeamTree | undefined {
  const { treeOffsets, treeCells, treeScores } = completions;
  const [begin = 0, end = 0] = treeOffsets.subarray(index, index + 2);
  if (begin === end) return undefined;
  const slots = TREE_SLOTS.length;
  return {
    cells: treeCells.slice(begin * slots, end * slots),
    scores: treeScores.slice(begin, end),
  };
}

/** The answer of the completion at `index`. */
export function readAnswer(
  completions: Completions,
  index: number,
  modelDigest: string,
): EngineAnswer {
  const { itemOffsets, itemOrdinals, itemIds, itemTitles, itemScores, itemPaths } = completions;
  const { widthOffsets, widthsUsed } = completions;
  const items: EngineAnswer['items'][number][] = [];
  for (let i = itemOffsets[index] ?? 0; i < (itemOffsets[index + 1] ?? 0); i++) {
    items.push({
      ordinal: itemOrdinals[i] ?? 0,
      itemId: itemIds[i] ?? '',
      title: itemTitles[i] ?? '',
      score: itemScores[i] ?? 0,
      path: itemPaths[i] ?? 0,
    });
  }
  return {
    items,
    paths: readPaths(completions, index),
    modelDigest,
    catalogueSequence: completions.catalogueSequences[index] ?? 0,
    leftOutByDiversity: completions.leftOutByDiversity[index] ?? 0,
    completeness: COMPLETENESS[completions.completeness[index] ?? 0] ?? 'whole',
    fate: readFate(completions, index),
    tree: readTree(completions, index),
    widthsUsed: [...widthsUsed.subarray(widthOffsets[index], widthOffsets[index + 1])],
    prefixReusedTokens: completions.prefixReusedTokens[index] ?? 0,
    kv: readKv(completions, index),
    timings: readTimings(completions, index),
    passes: readPasses(completions, index),
  };
}

/** The scores of the completion at `index`. */
export function readScores(
  completions: Completions,
  index: number,
  modelDigest: string,
): EngineScores {
  const { scoreOffsets, scores } = completions;
  const own = scores.subarray(scoreOffsets[index], scoreOffsets[index + 1]);
  return {
    scores: [...own].map((score) => (Number.isNaN(score) ? undefined : score)),
    modelDigest,
    catalogueSequence: completions.catalogueSequences[index] ?? 0,
    prefixReusedTokens: completions.prefixReusedTokens[index] ?? 0,
    kv: readKv(completions, index),
    timings: readTimings(completions, index),
  };
}

export function readAppended(completions: Completions, index: number): EngineAppended {
  return {
    kv: readKv(completions, index),
    prefixReusedTokens: completions.prefixReusedTokens[index] ?? 0,
  };
}
