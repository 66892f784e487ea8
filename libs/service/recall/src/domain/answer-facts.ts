/** Prompt, versions and times, as every answer has them. */

import { randomUUID } from 'node:crypto';
import type { ServedAdapter } from '@tessera/adapter';
import {
  type Catalogue,
  type EngineScores,
  type EngineTimings,
  NO_ITEM,
  NO_TIMINGS,
  NOTHING_FOUND,
} from '@tessera/engine';
import { type Prepared, provenanceOf } from './preparation.js';
import type { PromptFacts, RecallVersions, UserSource } from './recall-types.js';
import type { DescribedItem, RecallParts } from './runtime-types.js';

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

/** The caller's ID, or one that is made. */
export function requestIdOf({ requestId }: UserSource): string {
  return requestId === '' ? randomUUID() : requestId;
}

function engineStages(timings: EngineTimings): Omit<EngineTimings, 'totalUs'> {
  const { totalUs: _engineTotal, ...stages } = timings;
  return stages;
}

/** Items as the newest version has them; undefined where it has none of the ID. */
export function describeItems(
  catalogue: Catalogue,
  itemIds: readonly string[],
): readonly (DescribedItem | undefined)[] {
  const view = catalogue.view();
  const ordinals = view.find(itemIds);
  const known = ordinals.filter((ordinal) => ordinal !== NO_ITEM);
  const sids = view.sids(known);
  const items = view
    .items(known)
    .map(({ itemId, title, attributes }, i) => ({ itemId, title, attributes, sid: sids[i] ?? [] }));
  return Array.from(ordinals, (ordinal) => (ordinal === NO_ITEM ? undefined : items.shift()));
}
