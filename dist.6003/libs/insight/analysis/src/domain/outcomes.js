import { fitsOf, panelCondition } from "./relations.js";
function isOne(actions, dialect) {
    if (actions.includes('*')) return '1 = 1';
    return `action IN (${actions.map((action)=>dialect.text(action)).join(', ')})`;
}
const flag = (condition)=>`max(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;
/**
 * Shown items of the filter's recalls by what users did: recall_id, item_id, adapter, time,
 * position, impression, click, conversion (0 or 1 each).
 */ export function outcomePairs(filter, actions, dialect) {
    const { fromMs, toMs, catalogue } = filter;
    const { windowMs, clicks, impressions, conversions } = actions;
    const endMs = toMs + windowMs;
    const ofPanel = panelCondition(filter).map((condition)=>`AND ${condition} `).join('');
    const kinds = [
        clicks,
        impressions,
        conversions
    ].map((list)=>isOne(list, dialect));
    // A behaviour that names its recall may come at any time behind it.
    const done = 'SELECT time, user_hash, item_id, action, request_id, position FROM behaviour WHERE ' + `time >= ${dialect.time(fromMs)} AND (${kinds.join(' OR ')}) ` + `${ofPanel}AND (request_id <> '' OR time < ${dialect.time(endMs)})`;
    const wanted = fitsOf(filter, dialect);
    const later = 'SELECT recall_id, request_id, user_hash, time, adapter, item_ids, ' + `CASE WHEN ${wanted} THEN 1 ELSE 0 END AS wanted FROM recall_fact WHERE ` + `code = 'OK' ${ofPanel}AND catalogue = ${dialect.text(catalogue)} ` + `AND time >= ${dialect.time(fromMs)}`;
    const place = dialect.place('r.item_ids', 'b.item_id');
    const own = 'b.user_hash AS user_hash, b.item_id AS item_id, b.time AS done, b.action AS action';
    const newest = (value)=>dialect.newest(value, 'r.recall_id');
    const columns = `max(r.recall_id) AS recall_id, ${newest('r.adapter')} AS adapter, ` + `${newest('r.time')} AS time, ${newest('r.wanted')} AS wanted, ${newest(place)} AS rank, ` + 'max(b.position) AS position';
    const group = 'b.user_hash, b.item_id, b.time, b.action, b.request_id';
    const named = `SELECT ${own}, ${columns} FROM done AS b JOIN (${later}) AS r ` + `ON r.request_id = b.request_id WHERE b.request_id <> '' AND ${place} > 0 ` + `AND r.time <= b.time GROUP BY ${group}`;
    const unnamed = `SELECT ${own}, ${columns} FROM done AS b ` + `JOIN (${later} AND time < ${dialect.time(endMs)}) AS r ON r.user_hash = b.user_hash ` + `WHERE b.request_id = '' AND b.user_hash <> 0 ` + `AND ${place} > 0 AND r.time <= b.time ` + `AND ${dialect.ms('r.time')} > ${dialect.ms('b.time')} - ${windowMs} GROUP BY ${group}`;
    return `WITH done AS (${done}) SELECT recall_id, item_id, adapter, time, ` + 'max(CASE WHEN o.position > 0 THEN o.position ELSE o.rank END) AS position, ' + `${flag(isOne(impressions, dialect))} AS impression, ` + `${flag(isOne(clicks, dialect))} AS click, ` + `${flag(isOne(conversions, dialect))} AS conversion ` + `FROM (${named} UNION ALL ${unnamed}) AS o WHERE wanted = 1 ` + 'GROUP BY recall_id, item_id, adapter, time';
}

//# sourceMappingURL=outcomes.js.map