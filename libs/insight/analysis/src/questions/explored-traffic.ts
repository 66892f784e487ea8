import type { OutcomesPage } from '../domain/answers.js';
import { EFFECTIVE_USERS_MIN, estimateTarget } from '../domain/estimates.js';
import type { AnalysisFilter } from '../domain/filter.js';
import type { LoggedItem, LoggedRecall } from '../domain/logged-recall.js';
import { outcomePairs } from '../domain/outcomes.js';
import { recallsOf } from '../domain/relations.js';
import { type Asking, countedPanel, numberOf, textOf } from './question.js';

/** Behaviours that earn an item 1, in the order of a funnel. */
export const REWARDS = ['impression', 'click', 'conversion'] as const;
export type Reward = (typeof REWARDS)[number];

/** A recall whose items have propensities. */
export interface ExploredRecall {
  readonly recallId: string;
  readonly requestId: string;
  readonly user: string;
  readonly items: readonly LoggedItem[];
}

export interface ExploredTraffic {
  /** Newest first. */
  readonly recalls: readonly ExploredRecall[];
  /** Answered recalls that tell nothing, by why: `plain` (nothing was drawn), `beam`, ... */
  readonly without: Readonly<Record<string, number>>;
  /** Size of a panel: one user in so many; 1: all recalls. */
  readonly oneIn: number;
}

const PLAIN = 'plain';
const RANKED = 'ranked';
const NO_USER = '0';

/** The recalls of a filter that explored, with the rewards of their items. */
export async function exploredTraffic(
  asking: Asking,
  every: AnalysisFilter,
  reward: Reward,
): Promise<ExploredTraffic> {
  const { store, actions, signal } = asking;
  const { dialect } = store;
  const { number } = dialect;
  const filter = await countedPanel(asking, every);
  const answered = `SELECT * FROM (${recallsOf(filter, dialect)}) AS r WHERE code = 'OK'`;
  const pairs = outcomePairs(filter, actions, dialect);
  // Items that were ranked and not answered could not be drawn, and a target may show them.
  const isKnown =
    `${dialect.length('propensities')} > 0 AND coalesce(ranked_items, 0) = 0 ` +
    "AND coalesce(no_propensities, '') = ''";
  const reason =
    `CASE WHEN ${dialect.length('propensities')} > 0 AND ranked_items > 0 THEN '${RANKED}' ` +
    `WHEN explore_slots > 0 THEN no_propensities ELSE '${PLAIN}' END`;
  const [recalls = [], rewarded = [], without = []] = await store.rows(
    [
      'SELECT recall_id, request_id, CAST(user_hash AS VARCHAR) AS user_text, item_ids, ' +
        `propensities FROM (${answered}) AS known WHERE ${isKnown} ORDER BY recall_id DESC`,
      `SELECT recall_id, item_id FROM (${pairs}) AS pairs WHERE ${reward} = 1`,
      `SELECT reason, ${number('count(*)')} AS recalls FROM (SELECT ${reason} AS reason ` +
        `FROM (${answered}) AS a WHERE NOT coalesce(${isKnown}, 1 = 0)) AS unknown GROUP BY reason`,
    ],
    signal,
  );
  const earned = Map.groupBy(rewarded, (row) => textOf(row, 'recall_id'));
  return {
    recalls: recalls.map((row) => {
      const recallId = textOf(row, 'recall_id');
      const user = textOf(row, 'user_text');
      const own = new Set(earned.get(recallId)?.map((one) => textOf(one, 'item_id')));
      const propensities = row.propensities as readonly number[];
      const items = (row.item_ids as readonly string[]).map((itemId, at) => ({
        itemId,
        propensity: Number(propensities[at]),
        reward: own.has(itemId) ? 1 : 0,
      }));
      const requestId = textOf(row, 'request_id');
      return { recallId, requestId, user: user === NO_USER ? recallId : user, items };
    }),
    without: Object.fromEntries(
      without.map((row) => [textOf(row, 'reason'), numberOf(row, 'recalls')]),
    ),
    oneIn: filter.oneIn,
  };
}

/** Recalls that the target was not asked for. */
const WITHOUT_TARGET = 'unasked';

/**
 * Estimates of the target on the recalls that it has an answer for.
 * @param targets by recall ID: probabilities with which the target's answer has items
 * @param unasked recalls without one, by why; those that it does not count are `unasked`
 */
export function outcomesPage(
  { recalls, without, oneIn }: ExploredTraffic,
  targets: ReadonlyMap<string, LoggedRecall['target']>,
  told: { readonly reward: Reward; readonly unasked?: Readonly<Record<string, number>> },
): OutcomesPage {
  const logged = recalls.flatMap(({ recallId, user, items }): LoggedRecall[] => {
    const target = targets.get(recallId);
    return target === undefined ? [] : [{ user, items, target }];
  });
  const { reward, unasked = {} } = told;
  const counted = Object.values(unasked).reduce((sum, count) => sum + count, 0);
  const rest = recalls.length - logged.length - counted;
  return {
    reward,
    oneIn,
    explored: recalls.length,
    left: { ...without, ...unasked, ...(rest > 0 && { [WITHOUT_TARGET]: rest }) },
    effectiveUsersMin: EFFECTIVE_USERS_MIN,
    ...estimateTarget(logged),
  };
}
