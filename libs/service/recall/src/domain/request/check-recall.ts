import type { Exploration, Priority, ScoreNorm } from '@tessera/engine';
import { checkSource, invalid } from './check-source.js';
import { explorationOf } from './exploration.js';
import { checkFrequencyCaps } from './frequency-caps.js';
import type { RequestLimits } from './request-limits.js';
import type { RecallRequest } from './request-types.js';
import { type SearchMembers, searchOf } from './search-settings.js';

/** Attributes that the items of an answer carry, and characters of a name. */
const ATTRIBUTES_MAX = 16;
const ATTRIBUTE_LENGTH_MAX = 256;

/** Items that are ranked for an answer where the request gives no count. */
const RANKED_ITEMS = 200;

/** The engine's own limit (native/abi/limits.json). */
export const RANK_ITEMS_MAX = 16_384;

/** How scores are made and whose turn it is, with every default filled in. */
export interface Ranking {
  readonly scoreNorm: ScoreNorm;
  readonly priority: Priority;
}

/** Ranking members as a request gives them. */
type AskedRanking = { readonly [Name in keyof Ranking]?: Ranking[Name] | undefined };

/** How is searched, how far, and how much is answered, with every default filled in. */
export interface SearchSettings extends Ranking, SearchMembers {
  /** Items that are searched for: those of the answer, or those that are ranked for it. */
  readonly resultCount: number;
  /** Items of the answer. */
  readonly answerCount: number;
  /** 0: as few as fill the answer. */
  readonly itemsPerSid: number;
  readonly allowsPartial: boolean;
  readonly attributes: readonly string[];
  /** Undefined: no place is drawn. */
  readonly explore: Exploration | undefined;
}

/**
 * Checks every bound of a request that does not need the catalogue.
 * @throws TesseraError REQUEST_INVALID with the path of the first field at fault
 */
export function checkRequest(request: RecallRequest, limits: RequestLimits): SearchSettings {
  const answerCount =
    counted('resultCount', request.resultCount, limits.resultCountMax) || limits.defaultResultCount;
  const itemsPerSid = counted('itemsPerSid', request.itemsPerSid, limits.itemsPerSidMax);
  const resultCount = rankedCount(request, answerCount, limits);
  const attributes = checkedAttributes(request);
  const scoreNorm = request.explore === undefined ? request.scoreNorm : 'allowed';
  const ranking = rankingOf({ scoreNorm, priority: request.priority }, limits);
  const { frequencyCaps = [], userId } = request;
  if (frequencyCaps.length > 0 && userId === undefined) {
    // Items of a written history have neither actions nor times.
    throw invalid('frequencyCaps', 'none, or a userId whose behaviours count', 'a written history');
  }
  checkSource(request, limits);
  checkFrequencyCaps(frequencyCaps, 'frequencyCaps', limits, invalid);
  return {
    resultCount,
    answerCount,
    itemsPerSid,
    allowsPartial: request.allowPartial ?? false,
    attributes,
    ...ranking,
    explore: explorationOf(request, answerCount),
    ...searchOf(request, resultCount, limits),
  };
}

/** Items that are recalled for an answer: as many, or those that are ranked for it. */
function rankedCount(
  { rank }: RecallRequest,
  answerCount: number,
  { resultCountMax }: RequestLimits,
): number {
  if (rank === undefined) return answerCount;
  const most = Math.min(resultCountMax, RANK_ITEMS_MAX);
  if (answerCount > most) throw invalid('resultCount', `1..${most} (rank)`, answerCount);
  const { items = Math.max(answerCount, Math.min(RANKED_ITEMS, most)) } = rank;
  if (Number.isInteger(items) && items >= answerCount && items <= most) return items;
  throw invalid('rank.items', `${answerCount}..${most}, as at least those are answered`, items);
}

export function rankingOf(request: AskedRanking, limits: RequestLimits): Ranking {
  const { hasWholeVocabulary } = limits;
  const scoreNorm = request.scoreNorm ?? limits.scoreNorm;
  if (scoreNorm === 'full' && !hasWholeVocabulary) {
    throw invalid('scoreNorm', 'level or allowed (engine.vocabulary is catalogue)', scoreNorm);
  }
  return {
    scoreNorm,
    priority: request.priority ?? 'normal',
  };
}

/** A count; 0 stands for the configured default. */
function counted(field: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw invalid(field, `1..${max}`, value);
}

function checkedAttributes({ attributes = [] }: RecallRequest): readonly string[] {
  if (attributes.length > ATTRIBUTES_MAX) {
    throw invalid('attributes', `at most ${ATTRIBUTES_MAX} names`, attributes.length);
  }
  attributes.forEach((name, index) => {
    if (name.length >= 1 && name.length <= ATTRIBUTE_LENGTH_MAX) return;
    throw invalid(`attributes[${index}]`, `1..${ATTRIBUTE_LENGTH_MAX} characters`, name.length);
  });
  const twice = attributes.findIndex((name, index) => attributes.indexOf(name) < index);
  if (twice >= 0) throw invalid(`attributes[${twice}]`, 'each name once', `'${attributes[twice]}'`);
  return attributes;
}
