/** Rows of the store -> recorded recalls. */ import { treeRows } from "../domain/tree-rows.js";
export const SUMMARY_COLUMNS = 'id, epoch_ms(time)::DOUBLE AS time_ms, request_id, user_id, source, reason, code, ' + 'coalesce(item_count, 0)::DOUBLE AS item_count, ' + 'coalesce(prompt_tokens, 0)::DOUBLE AS prompt_tokens, ' + 'coalesce(kv_computed_tokens, 0)::DOUBLE AS computed_tokens, ' + 'coalesce(total_us, 0)::DOUBLE AS total_us, ' + 'coalesce(catalogue_sequence, 0)::DOUBLE AS catalogue_sequence';
/** The condition that a filter comes to, and its values. */ export function summaryWhere(filter) {
    const { userId, requestId, itemId, code, fromMs, beforeMs } = filter;
    const values = [];
    const time = (value)=>`make_timestamp_ms(${value}::DOUBLE::BIGINT)`;
    const conditions = [
        [
            userId,
            (value)=>`user_id = ${value}`
        ],
        [
            requestId,
            (value)=>`request_id = ${value}`
        ],
        [
            itemId,
            (value)=>`id IN (SELECT recall FROM items WHERE item_id = ${value})`
        ],
        [
            code,
            (value)=>`code = ${value}`
        ],
        [
            fromMs,
            (value)=>`time >= ${time(value)}`
        ],
        [
            beforeMs,
            (value)=>`time < ${time(value)}`
        ]
    ];
    const parts = conditions.flatMap(([value, condition])=>value === undefined ? [] : [
            condition(`$${values.push(value)}`)
        ]);
    return {
        where: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`,
        values
    };
}
export function summaryFrom(row) {
    return {
        id: String(row.id),
        timeMs: Number(row.time_ms),
        requestId: String(row.request_id),
        userId: String(row.user_id),
        source: row.source,
        reason: row.reason,
        code: String(row.code),
        itemCount: Number(row.item_count),
        promptTokens: Number(row.prompt_tokens),
        computedTokens: Number(row.computed_tokens),
        totalUs: Number(row.total_us),
        catalogueSequence: Number(row.catalogue_sequence)
    };
}
export const ITEM_COLUMNS = 'rank, item_id, sid, score, title, value, terms, pace, critical_bid, explored, propensity, ' + 'heads, recall_rank, rank_value, rank_terms, rank_pace';
/** Undefined where the recall had no valuation. */ function valueFrom({ value, terms, pace, critical_bid: criticalBid }) {
    if (value === null) return undefined;
    return {
        value: Number(value),
        terms: JSON.parse(String(terms)),
        pace: Number(pace),
        ...criticalBid !== null && {
            criticalBid: Number(criticalBid)
        }
    };
}
/** Undefined where the recall did not rank. */ function rankingFrom(row) {
    if (row.heads === null) return undefined;
    const { rank_value: value, rank_terms: terms, rank_pace: pace, recall_rank: recallRank } = row;
    const worth = valueFrom({
        value,
        terms,
        pace,
        critical_bid: null
    });
    return {
        heads: JSON.parse(String(row.heads)),
        ...worth && {
            value: worth
        },
        ...recallRank !== null && {
            recallRank: Number(recallRank)
        }
    };
}
function itemFrom(row) {
    const value = valueFrom(row);
    const ranking = rankingFrom(row);
    return {
        rank: Number(row.rank),
        itemId: String(row.item_id),
        // Not recorded: the item's own are looked up where they are shown.
        attributes: '',
        sid: String(row.sid).split('-').filter(Boolean).map(Number),
        score: Number(row.score),
        title: String(row.title ?? ''),
        ...value && {
            value
        },
        ...row.explored !== null && {
            explored: row.explored === true
        },
        ...row.propensity !== null && {
            propensity: Number(row.propensity)
        },
        ...ranking && {
            ranking
        }
    };
}
export function recordedFrom(row, items) {
    const { id, timeMs, requestId, source, reason, code } = summaryFrom(row);
    const detail = JSON.parse(String(row.detail));
    const { request, answer, history = [], profile = {} } = detail;
    const recorded = {
        id,
        timeMs,
        requestId,
        source,
        reason,
        request,
        code
    };
    const message = String(row.message ?? '');
    if (answer === undefined) return {
        ...recorded,
        message
    };
    const tree = treeRows(Buffer.from(String(row.tree ?? ''), 'base64'));
    const stored = {
        ...answer,
        items: items.map(itemFrom),
        history,
        profile,
        tree
    };
    return {
        ...recorded,
        message,
        answer: stored
    };
}

//# sourceMappingURL=recall-rows.js.map