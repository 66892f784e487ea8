import { COMPLETENESS, type Completions, TIMING_SLOTS, VERDICTS } from '@tessera/native';
import type { EngineAnswer, EnginePath, EngineScores, EngineTimings, ItemFate } from './engine.js';

function readTimings(completions: Completions, index: number): EngineTimings {
  const at = (slot: number): number =>
    completions.timingsUs[index * TIMING_SLOTS.length + slot] ?? 0;
  return {
    queueUs: at(0),
    prefillUs: at(1),
    decodeUs: at(2),
    headUs: at(3),
    selectUs: at(4),
    exportUs: at(5),
    totalUs: at(6),
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

/** The answer of the completion at `index`. */
export function readAnswer(completions: Completions, index: number): EngineAnswer {
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
    catalogueSequence: completions.catalogueSequences[index] ?? 0,
    leftOutByDiversity: completions.leftOutByDiversity[index] ?? 0,
    completeness: COMPLETENESS[completions.completeness[index] ?? 0] ?? 'whole',
    fate: readFate(completions, index),
    widthsUsed: [...widthsUsed.subarray(widthOffsets[index], widthOffsets[index + 1])],
    prefixReusedTokens: completions.prefixReusedTokens[index] ?? 0,
    timings: readTimings(completions, index),
  };
}

/** The scores of the completion at `index`. */
export function readScores(completions: Completions, index: number): EngineScores {
  const { scoreOffsets, scores } = completions;
  const own = scores.subarray(scoreOffsets[index], scoreOffsets[index + 1]);
  return {
    scores: [...own].map((score) => (Number.isNaN(score) ? undefined : score)),
    catalogueSequence: completions.catalogueSequences[index] ?? 0,
    prefixReusedTokens: completions.prefixReusedTokens[index] ?? 0,
    timings: readTimings(completions, index),
  };
}
