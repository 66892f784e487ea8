import type { Retention } from '@tessera/behaviour';
import type { Exploration, Priority, ScoreNorm } from '@tessera/engine';
import { expecting, isBlank, shown, TesseraError } from '@tessera/errors';
import { explorationOf } from './exploration.js';
import { checkFrequencyCaps } from './frequency-caps.js';
import { BEAM_WIDTH } from './recall-choices.js';
import type {
  RankRequest,
  RecallContext,
  RecallRequest,
  ScoreRequest,
  Search,
  UserSource,
} from './recall-types.js';

export const invalid = expecting('REQUEST_INVALID');

const REQUEST_ID_LENGTH_MAX = 128;
const USER_ID_LENGTH_MAX = 256;
const ITEM_ID_LENGTH_MAX = 1024;
/** Keys of the request's profile, and of its scene. */
const SLOTS_MAX = 256;

/** Attributes that the items of an answer carry, and characters of a name. */
const ATTRIBUTES_MAX = 16;
const ATTRIBUTE_LENGTH_MAX = 256;

/** Items that are ranked for an answer where the request gives no count. */
const RANKED_ITEMS = 200;
/** The engine's own limit (native/abi/limits.json). */
const RANK_ITEMS_MAX = 16_384;

/** Levels of a SID, and codes of a level, that a format can have at all. */
const SID_LEVELS_MAX = 32;
const CODE_MAX = 0xffff_ffff;

/** Bounds of what a request may ask for, and what it gets where it says nothing. */
export interface RequestLimits extends SearchLimits {
  readonly resultCountMax: number;
  readonly scoreItemsMax: number;
  readonly itemsPerSidMax: number;
  readonly historyItemsMax: number;
  /** Of behaviours; undefined: all that there is, or not known here. */
  readonly retention: Retention | undefined;
  readonly defaultResultCount: number;
  /** True if the engine has logits of all tokens: `full` scores take them. */
  readonly hasWholeVocabulary: boolean;
  readonly profileKeys: readonly string[];
  readonly sceneKeys: readonly string[];
}

/** How scores are made and whose turn it is, with every default filled in. */
export interface Ranking {
  readonly scoreNorm: ScoreNorm;
  readonly priority: Priority;
}

/** The same as a request has it. */
type AskedRanking = { readonly [Name in keyof Ranking]?: Ranking[Name] | undefined };

/** How is searched, how far, and how much is answered, with every default filled in. */
export interface SearchSettings extends Ranking, SearchMembers {
  /** Items that are searched for: those of the answer, or those that are ranked for it. */
  readonly resultCount: number;
  /** Of the answer. */
  readonly answerCount: number;
  /** 0: as few as fill the answer. */
  readonly itemsPerSid: number;
  readonly allowsPartial: boolean;
  readonly attributes: readonly string[];
  /** Undefined: no place is drawn. */
  readonly explore: Exploration | undefined;
}

/** @throws TesseraError DEADLINE_EXCEEDED or CANCELLED where the caller no longer waits */
export function checkWaiting(context: RecallContext, elapsedUs: number): void {
  if (context.signal.aborted) throw new TesseraError('CANCELLED', 'the request was cancelled');
  if (Number.isNaN(context.budgetUs)) throw invalid('deadlineMs', 'a number', 'NaN');
  if (context.budgetUs - elapsedUs > 0) return;
  throw new TesseraError(
    'DEADLINE_EXCEEDED',
    elapsedUs === 0
      ? 'the deadline had passed before the work began'
      : 'the deadline passed before the engine was asked',
  );
}

/**
 * Checks every bound of a request that does not need the catalogue.
 * @throws TesseraError REQUEST_INVALID with the path of the first field at fault
 */
export function checkRequest(request: RecallRequest, limits: RequestLimits): SearchSettings {
  checkSource(request, limits);
  checkCaps(request, limits);
  const resultCount = counted('resultCount', request.resultCount, limits.resultCountMax);
  const itemsPerSid = counted('itemsPerSid', request.itemsPerSid, limits.itemsPerSidMax);
  const count = resultCount === 0 ? limits.defaultResultCount : resultCount;
  const explore = explorationOf(request, count);
  const scoreNorm = explore === undefined ? request.scoreNorm : 'allowed';
  const found = rankedCount(request, count, limits);
  return {
    resultCount: found,
    answerCount: count,
    ...searchOf(request, found, limits),
    itemsPerSid,
    allowsPartial: request.allowPartial ?? false,
    attributes: checkedAttributes(request),
    explore,
    ...rankingOf({ scoreNorm, priority: request.priority }, limits),
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

/**
 * The same of a request to rank items.
 * @throws TesseraError REQUEST_INVALID with the path of the first field at fault
 */
export function checkRankRequest(request: RankRequest, limits: RequestLimits): Ranking {
  checkSource(request, limits);
  const { itemIds, rank } = request;
  if (itemIds.length < 1 || itemIds.length > RANK_ITEMS_MAX) {
    throw invalid('itemIds', `1..${RANK_ITEMS_MAX} items`, itemIds.length);
  }
  const seen = new Set<string>();
  itemIds.forEach((itemId, index) => {
    checkItemId(`itemIds[${index}]`, itemId);
    if (seen.has(itemId)) throw invalid(`itemIds[${index}]`, 'each item once', shown(itemId));
    seen.add(itemId);
  });
  if (rank.items !== undefined) throw invalid('rank.items', 'none beside itemIds', rank.items);
  return rankingOf(request, limits);
}

/**
 * The same of a request for scores.
 * @throws TesseraError REQUEST_INVALID with the path of the first field at fault
 */
export function checkScoreRequest(request: ScoreRequest, limits: RequestLimits): Ranking {
  checkSource(request, limits);
  const { items } = request;
  if (items.length < 1 || items.length > limits.scoreItemsMax) {
    throw invalid('items', `1..${limits.scoreItemsMax} items`, items.length);
  }
  items.forEach((item, index) => {
    if ('itemId' in item) {
      checkItemId(`items[${index}].itemId`, item.itemId);
    } else if (item.sid.length < 1 || item.sid.length > SID_LEVELS_MAX) {
      throw invalid(`items[${index}].sid`, `1..${SID_LEVELS_MAX} codes`, item.sid.length);
    } else {
      item.sid.forEach((code, level) => {
        if (Number.isInteger(code) && code >= 0 && code <= CODE_MAX) return;
        throw invalid(`items[${index}].sid[${level}]`, `0..${CODE_MAX}`, code);
      });
    }
  });
  return rankingOf(request, limits);
}

/**
 * The same of a request to keep a user's prompt.
 * @throws TesseraError REQUEST_INVALID with the path of the first field at fault
 */
export function checkAppendRequest(request: UserSource, limits: RequestLimits): void {
  checkSource(request, limits);
  if (request.userId === undefined)
    throw invalid('userId', 'the user whose keys and values are to be kept', 'none');
}

function rankingOf(request: AskedRanking, { hasWholeVocabulary }: RequestLimits): Ranking {
  const scoreNorm = request.scoreNorm ?? (hasWholeVocabulary ? 'full' : 'level');
  if (scoreNorm === 'full' && !hasWholeVocabulary) {
    throw invalid('scoreNorm', 'level or allowed (engine.vocabulary is catalogue)', scoreNorm);
  }
  return {
    scoreNorm,
    priority: request.priority ?? 'normal',
  };
}

function checkSource(request: UserSource, limits: RequestLimits): void {
  if (request.requestId.length > REQUEST_ID_LENGTH_MAX) {
    throw invalid(
      'requestId',
      `at most ${REQUEST_ID_LENGTH_MAX} characters`,
      request.requestId.length,
    );
  }
  checkWho(request, limits);
  checkSlots('profile', request.profile, limits.profileKeys);
  checkSlots('scene', request.scene, limits.sceneKeys);
}

function checkWho({ userId, history }: UserSource, limits: RequestLimits): void {
  if ((userId === undefined) === (history === undefined)) {
    throw invalid(
      'userId',
      'exactly one of userId and history',
      userId === undefined ? 'none' : 'both',
    );
  }
  if (userId !== undefined) checkId('userId', userId, USER_ID_LENGTH_MAX);
  if (history === undefined) return;
  if (history.length > limits.historyItemsMax) {
    throw invalid('history', `0..${limits.historyItemsMax} items`, history.length);
  }
  history.forEach((itemId, index) => {
    checkItemId(`history[${index}]`, itemId);
  });
}

export const checkItemId = (field: string, itemId: string): void =>
  checkId(field, itemId, ITEM_ID_LENGTH_MAX);

function checkId(field: string, id: string, lengthMax: number): void {
  if (id.length < 1 || id.length > lengthMax) {
    throw invalid(field, `1..${lengthMax} characters`, id.length);
  }
  if (isBlank(id)) throw invalid(field, 'an ID that is not blank', shown(id));
}

/** Items of a written history have neither actions nor times. */
function checkCaps({ frequencyCaps = [], userId }: RecallRequest, limits: RequestLimits): void {
  if (frequencyCaps.length > 0 && userId === undefined) {
    throw invalid('frequencyCaps', 'none, or a userId whose behaviours count', 'a written history');
  }
  checkFrequencyCaps(frequencyCaps, 'frequencyCaps', limits, invalid);
}

/** The values are checked by the template's slots; a key without a slot is a typing error. */
function checkSlots(
  kind: 'profile' | 'scene',
  given: Readonly<Record<string, string>>,
  known: readonly string[],
): void {
  const keys = Object.keys(given);
  if (keys.length > SLOTS_MAX) throw invalid(kind, `at most ${SLOTS_MAX} keys`, keys.length);
  const stranger = keys.find((key) => !known.includes(key));
  if (stranger === undefined) return;
  const slots = known.length === 0 ? 'no key' : `one of the keys ${known.join(', ')}`;
  const name = stranger.slice(0, 80);
  throw invalid(`${kind}.${name}`, `${slots} (the slots of the prompt template)`, `'${name}'`);
}

/** 0 stands for the configured default. */
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

/** The engine's own limit (native/abi/limits.json). */
export const ROW_BUDGET_MAX = 65_536;
/** Rows of a certified search at most where nobody says: some, and some for each item wanted. */
const BUDGET_ROWS = 256;
const BUDGET_ROWS_PER_ITEM = 8;

/** Bounds of a search, and what a request gets where it says nothing. */
export interface SearchLimits {
  readonly widthMax: number;
  /** Steps of the catalogue: its depth and the terminal tokens. */
  readonly stepsMax: number;
  readonly defaultSearch: Search;
  /** 0: by the number of items wanted. */
  readonly defaultRowBudget: number;
}

export interface SearchMembers {
  readonly search: Search;
  /** Of a certified search: of the beam that it goes on as where its proof is out of reach. */
  readonly widths: readonly number[];
  /** 0: a beam. */
  readonly rowBudget: number;
}

/**
 * How a request is searched: by its `search`, as a beam where it has widths, else as is configured.
 * @throws TesseraError REQUEST_INVALID naming `widths` or `rowBudget`
 */
function searchOf(
  request: RecallRequest,
  resultCount: number,
  limits: SearchLimits,
): SearchMembers {
  const search = request.search ?? (request.widths.length > 0 ? 'beam' : limits.defaultSearch);
  checkMembers(search, request, limits);
  return {
    search,
    widths: request.widths.length > 0 ? request.widths : [widthFor(resultCount, limits)],
    rowBudget:
      search === 'beam'
        ? 0
        : (request.rowBudget ?? rowBudgetFor(resultCount, limits.defaultRowBudget)),
  };
}

/** Each search has members of its own. */
function checkMembers(
  search: Search,
  { widths, rowBudget }: RecallRequest,
  limits: SearchLimits,
): void {
  checkWidths(widths, limits);
  if (search === 'certified' && widths.length > 0) {
    throw invalid('widths', 'none (search is certified)', `${widths.length} widths`);
  }
  if (rowBudget === undefined) return;
  if (search === 'beam') throw invalid('rowBudget', 'none (search is beam)', rowBudget);
  if (Number.isInteger(rowBudget) && rowBudget >= 1 && rowBudget <= ROW_BUDGET_MAX) return;
  throw invalid('rowBudget', `1..${ROW_BUDGET_MAX}`, rowBudget);
}

function checkWidths(widths: readonly number[], limits: SearchLimits): void {
  if (widths.length > limits.stepsMax) {
    throw invalid('widths', `at most ${limits.stepsMax} widths, one per step`, widths.length);
  }
  widths.forEach((width, index) => {
    if (Number.isInteger(width) && width >= 1 && width <= limits.widthMax) return;
    throw invalid(`widths[${index}]`, `1..${limits.widthMax}`, width);
  });
}

/** Of every step, raised to the result count: a narrower beam could not fill the answer. */
function widthFor(resultCount: number, { widthMax }: SearchLimits): number {
  return Math.min(Math.max(BEAM_WIDTH, resultCount), widthMax);
}

/** Rows of a certified search at most where the request says none. */
export function rowBudgetFor(resultCount: number, configured: number): number {
  if (configured > 0) return configured;
  return Math.min(BUDGET_ROWS + BUDGET_ROWS_PER_ITEM * resultCount, ROW_BUDGET_MAX);
}
