import { wholeSpan } from "../domain/buckets.js";
import { spanBefore } from "../domain/filter.js";
import { exposures, liveItems } from "../domain/relations.js";
import { numberOf } from "./question.js";
/** Popularity lift and novelty, by the clicks of the span of equal length before. */ export async function popularity({ store, actions, signal }, filter) {
    const { dialect } = store;
    const { number } = dialect;
    const before = spanBefore(filter);
    const clicks = actions.clicks.map((action)=>dialect.text(action)).join(', ');
    const isClick = actions.clicks.includes('*') ? '1 = 1' : `action IN (${clicks})`;
    const clicked = `SELECT item_id, user_hash FROM behaviour WHERE ${isClick} AND ` + `time >= ${dialect.time(before.fromMs)} AND time < ${dialect.time(before.toMs)}`;
    const byItem = 'SELECT item_id, count(*) AS clicks, count(DISTINCT user_hash) AS users ' + `FROM (${clicked}) AS clicked GROUP BY item_id`;
    const exposed = exposures(filter, wholeSpan(filter), await store.hours(), dialect);
    const shown = `SELECT item_id, sum(n) AS n FROM (${exposed}) AS exposed GROUP BY item_id`;
    const live = liveItems(filter, dialect);
    const joined = 'SELECT l.item_id AS item_id, coalesce(s.n, 0) AS n, coalesce(c.clicks, 0) AS clicks, ' + `coalesce(c.users, 0) AS users FROM (${live}) AS l ` + `LEFT JOIN (${shown}) AS s ON s.item_id = l.item_id ` + `LEFT JOIN (${byItem}) AS c ON c.item_id = l.item_id`;
    const answers = await store.rows([
        `SELECT ${number('count(DISTINCT user_hash)')} AS users FROM (${clicked}) AS clicked`,
        `SELECT ${number('sum(n)')} AS exposed, ${number('sum(n * clicks)')} AS weighted, ` + `${number('avg(clicks)')} AS average, ${number('sum(n * log2(users + 1))')} AS bits ` + `FROM (${joined}) AS joined`
    ], signal);
    const [all, sums] = answers.map(([row])=>row);
    const total = numberOf(sums, 'exposed');
    const average = numberOf(sums, 'average');
    if (total === 0) return {
        lift: null,
        novelty: null
    };
    return {
        lift: average === 0 ? null : numberOf(sums, 'weighted') / total / average,
        novelty: Math.log2(numberOf(all, 'users') + 1) - numberOf(sums, 'bits') / total
    };
}

//# sourceMappingURL=popularity.js.map