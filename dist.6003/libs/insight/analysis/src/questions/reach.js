import { wholeSpan } from "../domain/buckets.js";
import { attributesFit, exposures, liveItems, recallsOf, valuedVersions } from "../domain/relations.js";
import { attributeNamed } from "./attribute-bounds.js";
import { countedPanel, numberOf, textOf } from "./question.js";
const HOUR_MS = 3_600_000;
/** Recalls that had an item, or an item with a value of an attribute, before and after a time. */ export async function reach(asking, filter, { by, atMs, limit }) {
    const { store, signal } = asking;
    const { dialect } = store;
    const { number } = dialect;
    const { fromMs, toMs } = filter;
    const counted = by === 'item' ? {
        ...filter,
        oneIn: 1
    } : await countedPanel(asking, filter);
    const answered = `SELECT * FROM (${recallsOf(counted, dialect)}) AS r WHERE code = 'OK'`;
    const isAfter = `CASE WHEN time >= ${dialect.time(atMs)} THEN 1 ELSE 0 END`;
    const attribute = by === 'item' ? undefined : await attributeNamed(asking, filter.catalogue, by);
    const states = statesOf(attribute, filter, dialect);
    const counts = attribute === undefined ? await countsOfItems(store, filter, atMs) : countsOfValues(answered, isAfter, attribute, filter, dialect);
    const totals = `SELECT ${number(`sum(${isAfter})`)} AS after, ${number('count(*)')} AS recalls ` + `FROM (${answered}) AS r`;
    const [total, found = [], stated = []] = await store.rows([
        totals,
        counts,
        states
    ], signal);
    const pausedMs = new Map(stated.map((row)=>[
            textOf(row, 'key'),
            numberOf(row, 'paused_ms')
        ]));
    const recallsAfter = numberOf(total?.[0], 'after');
    const recallsBefore = numberOf(total?.[0], 'recalls') - recallsAfter;
    const share = (count, of)=>of === 0 ? 0 : count / of;
    const rows = found.map((row)=>{
        const [before, after] = [
            numberOf(row, 'before'),
            numberOf(row, 'after')
        ];
        const shares = {
            shareBefore: share(before, recallsBefore),
            shareAfter: share(after, recallsAfter)
        };
        return Object.assign({
            key: textOf(row, 'key'),
            title: textOf(row, 'title'),
            before,
            after
        }, shares, {
            pausedMs: pausedMs.get(textOf(row, 'key')) ?? 0
        });
    }).map((row)=>({
            row,
            shift: Math.abs(row.shareAfter - row.shareBefore)
        })).sort((a, b)=>b.shift - a.shift || (a.row.key < b.row.key ? -1 : 1)).map(({ row })=>row);
    const span = {
        by,
        fromMs,
        atMs,
        toMs,
        oneIn: counted.oneIn,
        recallsBefore,
        recallsAfter
    };
    return Object.assign(span, {
        rows: rows.slice(0, limit),
        isCut: rows.length > limit
    });
}
async function countsOfItems(store, filter, atMs) {
    const { dialect } = store;
    const { number } = dialect;
    const { fromMs, toMs } = filter;
    const hours = await store.hours();
    const part = (from, to)=>{
        const span = {
            ...filter,
            fromMs: from,
            toMs: to
        };
        return exposures(span, wholeSpan(span), hours, dialect);
    };
    const parts = [
        `SELECT item_id, n AS earlier, 0 AS later FROM (${part(fromMs, atMs)}) AS earlier_part`,
        `SELECT item_id, 0 AS earlier, n AS later FROM (${part(atMs, toMs)}) AS later_part`
    ];
    const items = liveAt(filter, store);
    return `SELECT c.item_id AS key, max(v.title) AS title, ${number('sum(c.earlier)')} AS before, ` + `${number('sum(c.later)')} AS after FROM (${parts.join(' UNION ALL ')}) AS c ` + `JOIN (${items}) AS v ON v.item_id = c.item_id GROUP BY c.item_id`;
}
/** Items or values of which no item is live at the end of the span, and when the last one was. */ function statesOf(attribute, filter, dialect) {
    const { catalogue, toMs } = filter;
    const at = dialect.time(toMs);
    const own = `catalogue = ${dialect.text(catalogue)} AND from_time <= ${at}`;
    const until = 'SELECT item_id, max(CASE WHEN live THEN to_time END) AS until_time, ' + `max(CASE WHEN live AND to_time > ${at} THEN 1 ELSE 0 END) AS is_live ` + `FROM item_version WHERE ${own} GROUP BY item_id`;
    const valued = attribute === undefined ? 'SELECT *, item_id AS value FROM item_version' : valuedVersions(filter, attribute, dialect);
    const last = 'SELECT v.value AS value, u.is_live AS is_live, u.until_time AS until_time ' + `FROM (SELECT * FROM (${valued}) AS v WHERE ${own} AND to_time > ${at}) AS v ` + `JOIN (${until}) AS u ON u.item_id = v.item_id`;
    return `SELECT value AS key, ${dialect.number(dialect.ms('max(until_time)'))} AS paused_ms ` + `FROM (${last}) AS last_state GROUP BY value HAVING max(is_live) = 0`;
}
/** Items by what they were last, live or not. */ function liveAt(filter, { dialect }) {
    const at = dialect.time(filter.toMs);
    const title = dialect.newest('title', 'from_seq');
    const attributes = dialect.newest('attributes', 'from_seq');
    return `SELECT item_id, title, attributes FROM (SELECT item_id, ${title} AS title, ` + `${attributes} AS attributes FROM item_version WHERE ` + `catalogue = ${dialect.text(filter.catalogue)} AND from_time <= ${at} GROUP BY item_id) ` + `AS last_version WHERE ${attributesFit(filter, dialect, 'attributes')}`;
}
function countsOfValues(answered, isAfter, by, filter, dialect) {
    const { number } = dialect;
    const columns = `${isAfter} AS later, recall_id, catalogue, catalogue_seq`;
    const items = dialect.items(columns, `(${answered}) AS answered_recall`);
    const valued = `SELECT DISTINCT i.later AS later, i.recall_id AS recall_id, ` + `v.value AS value FROM (${items}) AS i JOIN (${valuedVersions(filter, by, dialect)}) AS v ` + 'ON v.catalogue = i.catalogue AND v.item_id = i.item_id ' + 'WHERE v.from_seq <= i.catalogue_seq AND i.catalogue_seq < v.to_seq';
    return `SELECT value AS key, '' AS title, ${number('sum(1 - later)')} AS before, ` + `${number('sum(later)')} AS after FROM (${valued}) AS valued GROUP BY value`;
}
const VALUES_MAX = 200;
/** Live items by value, and those of them that no recall had. */ async function missedByValue(asking, filter, by, missed) {
    const { dialect } = asking.store;
    const { number } = dialect;
    const attribute = await attributeNamed(asking, filter.catalogue, by);
    const at = dialect.time(filter.toMs);
    const live = `SELECT v.value AS value, CASE WHEN m.eligible > 0 THEN 1 ELSE 0 END AS is_missed ` + `FROM (${valuedVersions(filter, attribute, dialect)}) AS v ` + `LEFT JOIN (${missed}) AS m ON m.item_id = v.item_id ` + `WHERE v.catalogue = ${dialect.text(filter.catalogue)} AND v.live ` + `AND v.from_time <= ${at} AND v.to_time > ${at}`;
    return `SELECT value, ${number('sum(is_missed)')} AS missed, ${number('count(*)')} AS live ` + `FROM (${live}) AS live_value GROUP BY value HAVING sum(is_missed) > 0 ` + `ORDER BY missed DESC, value LIMIT ${VALUES_MAX}`;
}
/** Recalls by predicate and hour, those whose eligible items are known, and items missed. */ async function missedParts(store, filter) {
    const { dialect } = store;
    const { catalogue } = filter;
    const answered = `SELECT * FROM (${recallsOf(filter, dialect)}) AS r WHERE code = 'OK'`;
    const hourOf = (column)=>dialect.quotient(dialect.ms(column), HOUR_MS);
    const asked = `SELECT predicate_id, ${hourOf('time')} AS hour_number, count(*) AS recalls ` + `FROM (${answered}) AS answered_recall GROUP BY predicate_id, hour_number`;
    const evaluated = `SELECT predicate_id, ${hourOf('time')} AS hour_number, ` + `${dialect.newest('item_ids', 'catalogue_seq')} AS item_ids FROM predicate ` + `WHERE catalogue = ${dialect.text(catalogue)} GROUP BY predicate_id, hour_number`;
    const known = 'SELECT a.recalls AS recalls, p.item_ids AS item_ids, p.predicate_id AS predicate_id ' + `FROM (${asked}) AS a JOIN (${evaluated}) AS p ON p.predicate_id = a.predicate_id ` + 'AND p.hour_number = a.hour_number';
    const live = liveItems(filter, dialect);
    const sum = 'SELECT sum(recalls) AS free_recalls';
    const free = `${sum} FROM (${asked}) AS free WHERE predicate_id = ''`;
    const had = exposures(filter, wholeSpan(filter), await store.hours(), dialect);
    const listed = dialect.items('recalls', `(${known}) AS known`);
    const eligible = `SELECT item_id, recalls FROM (${listed}) AS listed ` + `UNION ALL SELECT l.item_id AS item_id, f.free_recalls AS recalls FROM (${live}) AS l ` + `CROSS JOIN (${free}) AS f`;
    const rows = 'SELECT e.item_id AS item_id, max(l.title) AS title, sum(e.recalls) AS eligible ' + `FROM (${eligible}) AS e JOIN (${live}) AS l ON l.item_id = e.item_id ` + `WHERE e.item_id NOT IN (SELECT item_id FROM (${had}) AS had) GROUP BY e.item_id`;
    return {
        asked,
        known,
        rows
    };
}
/** Items that recalls of the span could have had and none had, the most eligible first. */ export async function unreached(asking, filter, { by, limit }) {
    const { store, signal } = asking;
    const { number } = store.dialect;
    const { asked, known, rows } = await missedParts(store, filter);
    const answers = await store.rows([
        `SELECT item_id, title, ${number('eligible')} AS eligible, ` + `${number('count(*) OVER ()')} AS total FROM (${rows}) AS missed ` + `WHERE eligible > 0 ORDER BY eligible DESC, item_id LIMIT ${limit}`,
        `SELECT ${number('sum(recalls)')} AS asked_recalls, ` + `${number("sum(CASE WHEN predicate_id = '' THEN recalls ELSE 0 END)")} AS free ` + `FROM (${asked}) AS asked`,
        `SELECT ${number('sum(recalls)')} AS asked_recalls FROM (${known}) AS known`,
        ...by === '' ? [] : [
            await missedByValue(asking, filter, by, rows)
        ]
    ], signal);
    const [missed = [], , , grouped = []] = answers;
    const [all, understood] = answers.slice(1, 3).map(([row])=>row);
    const recalls = numberOf(all, 'asked_recalls');
    return {
        items: missed.map((row)=>({
                itemId: textOf(row, 'item_id'),
                title: textOf(row, 'title'),
                eligibleRecalls: numberOf(row, 'eligible')
            })),
        values: grouped.map((row)=>({
                value: textOf(row, 'value'),
                items: numberOf(row, 'missed'),
                live: numberOf(row, 'live')
            })),
        total: numberOf(missed[0], 'total'),
        recalls,
        unknownRecalls: recalls - numberOf(all, 'free') - numberOf(understood, 'asked_recalls')
    };
}

//# sourceMappingURL=reach.js.map