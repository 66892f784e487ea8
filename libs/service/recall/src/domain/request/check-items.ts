/** Bounds of requests that name their items or have none. */

import { shown } from '@tessera/errors';
import { RANK_ITEMS_MAX, type Ranking, rankingOf } from './check-recall.js';
import { checkItemId, checkSource, invalid } from './check-source.js';
import type { RequestLimits } from './request-limits.js';
import type { RankRequest, ScoreRequest, UserSource } from './request-types.js';

/** Levels of a SID, and codes of a level, that a format can have at all. */
const SID_LEVELS_MAX = 32;
const CODE_MAX = 0xffff_ffff;

/**
 * Checks the bounds of a request to rank items.
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
 * Checks the bounds of a request for scores.
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
 * Checks the bounds of a request to keep a user's prompt.
 * @throws TesseraError REQUEST_INVALID with the path of the first field at fault
 */
export function checkAppendRequest(request: UserSource, limits: RequestLimits): void {
  checkSource(request, limits);
  if (request.userId === undefined)
    throw invalid('userId', 'the user whose keys and values are to be kept', 'none');
}
