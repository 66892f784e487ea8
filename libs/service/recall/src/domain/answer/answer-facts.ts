/** Prompt, versions and times, as every answer has them. */

import type { ServedAdapter } from '@tessera/adapter';
import {
  type EngineAppended,
  type EngineScores,
  type EngineTimings,
  NO_TIMINGS,
  NOTHING_FOUND,
} from '@tessera/engine';
import type { Prepared } from '../context/prepared.js';
import type { RecallParts } from '../context/recall-parts.js';
import type { KvProvenance, PromptFacts, RecallVersions } from './answer-types.js';

/** Facts of the engine's part; without a digest where it was not asked. */
export type EngineFacts = Pick<
  EngineScores,
  'catalogueSequence' | 'prefixReusedTokens' | 'kv' | 'timings'
> & { readonly modelDigest?: string };

/** Stands for the engine's part of an answer that the engine was not asked for. */
export const NOTHING_COMPUTED = { prefixReusedTokens: 0, kv: NOTHING_FOUND, timings: NO_TIMINGS };

export function factsOf(parts: RecallParts, prepared: Prepared, answer: EngineFacts): PromptFacts {
  const { prompt, skippedItems, trimmedItems, featuresUs, promptUs, stopwatch } = prepared;
  const { catalogueSequence, modelDigest = parts.engine.model.digest } = answer;
  return {
    requestId: prepared.requestId,
    historyItems: prompt.historyItems,
    trimmedItems,
    skippedItems,
    fallback: prepared.history?.fallback ?? '',
    promptTokens: prompt.tokens.length,
    prefixReusedTokens: answer.prefixReusedTokens,
    kv: provenanceOf(answer.timings === NO_TIMINGS ? 0 : prompt.tokens.length, answer),
    versions: { ...versionsOf(parts, prepared.adapter, modelDigest), catalogueSequence },
    timings: {
      featuresUs,
      promptUs,
      ...engineStages(answer.timings),
      totalUs: stopwatch.totalUs(),
    },
  };
}

export function versionsOf(
  { process, catalogue, template }: RecallParts,
  adapter: ServedAdapter | undefined,
  model: string,
): Omit<RecallVersions, 'catalogueSequence'> {
  const { digest = '', name = '' } = adapter ?? {};
  return {
    ...process,
    catalogue: catalogue.summary.digest,
    promptTemplate: `${template.template.name}@${template.digest.slice(0, 16)}`,
    model,
    adapter: digest,
    adapterName: name,
  };
}

function engineStages(timings: EngineTimings): Omit<EngineTimings, 'totalUs'> {
  const { totalUs: _engineTotal, ...stages } = timings;
  return stages;
}

/** @param answer undefined where the engine was not asked */
export function provenanceOf(
  promptTokens: number,
  answer: EngineAppended | undefined,
): KvProvenance {
  const kv = answer?.kv ?? NOTHING_FOUND;
  const { tiers, waitUs, lossy, inheritedTokens, versionsBack } = kv;
  const sharedTokens = answer?.prefixReusedTokens ?? 0;
  const foundTokens = tiers.reduce((sum, { tokens }) => sum + tokens, 0);
  const savedTokens = foundTokens + sharedTokens;
  const computedTokens = answer === undefined ? 0 : promptTokens - savedTokens;
  return {
    waitUs,
    lossy,
    inheritedTokens,
    versionsBack,
    tokensByTier: Object.fromEntries(tiers.map(({ tier, tokens }) => [tier, tokens])),
    sharedTokens,
    computedTokens,
    savedTokens,
  };
}
