import { STILL_SEQ } from "../../../facts/src/index.js";
import { valueList } from "../domain/attribute-values.js";
import { attributesFit } from "../domain/relations.js";
import { attributeBounds } from "./attribute-bounds.js";
import { numberOf, textOf } from "./question.js";
const FACET_VALUES_MAX = 20;
/** Columns of `item_version` that make an item. */ export const itemColumns = ({ number, ms })=>`item_id, title, sid, attributes, CASE WHEN live THEN 1 ELSE 0 END AS is_live, ` + `${number('from_seq')} AS from_sequence, ${number(ms('from_time'))} AS from_ms`;
export function itemOf(row) {
    return {
        itemId: textOf(row, 'item_id'),
        title: textOf(row, 'title'),
        sid: textOf(row, 'sid'),
        attributes: textOf(row, 'attributes'),
        isLive: numberOf(row, 'is_live') === 1,
        fromSequence: numberOf(row, 'from_sequence'),
        fromMs: numberOf(row, 'from_ms')
    };
}
/** How many of the items have which values, the most frequent of each attribute. */ async function facetsStatement(asking, catalogue, fitting) {
    const { dialect } = asking.store;
    const named = dialect.each('attributes', dialect.names('attributes'), 'name', `(${fitting}) AS fitting`);
    const ranged = [
        ...await attributeBounds(asking, catalogue)
    ].map(([name, bounds])=>{
        const values = valueList(dialect, 'attributes', 'name', bounds);
        return `WHEN name = ${dialect.text(name)} THEN ${values} `;
    });
    const members = dialect.members('attributes', 'name');
    const values = ranged.length === 0 ? members : `CASE ${ranged.join('')}ELSE ${members} END`;
    const valued = dialect.each('name', values, 'value', `(${named}) AS named`);
    const counts = 'SELECT name, value, count(*) AS items';
    const counted = `${counts} FROM (${valued}) AS valued GROUP BY name, value`;
    const placed = 'SELECT name, value, items, row_number() OVER (PARTITION BY name ORDER BY items DESC, value) ' + `AS place FROM (${counted}) AS counted`;
    return `SELECT name, value, ${dialect.number('items')} AS items FROM (${placed}) AS placed ` + `WHERE place <= ${FACET_VALUES_MAX} ORDER BY name, place`;
}
/** A page of the items as they are now; the first says how many have which values as well. */ export async function items(asking, filter, { text, isLive, offset, limit }) {
    const { store, signal } = asking;
    const { dialect } = store;
    const { number } = dialect;
    const conditions = [
        `catalogue = ${dialect.text(filter.catalogue)} AND to_seq = ${STILL_SEQ}`,
        attributesFit(filter, dialect, 'attributes'),
        ...isLive === undefined ? [] : [
            isLive ? 'live' : 'NOT live'
        ],
        ...text === '' ? [] : [
            `(${dialect.contains('item_id', text)} OR ${dialect.contains('title', text)})`
        ]
    ];
    const fitting = `SELECT * FROM item_version WHERE ${conditions.join(' AND ')}`;
    const [found = [], total = [], facets = []] = await store.rows([
        `SELECT ${itemColumns(dialect)} FROM (${fitting}) AS fitting ` + `ORDER BY item_id LIMIT ${limit} OFFSET ${offset}`,
        `SELECT ${number('count(*)')} AS total FROM (${fitting}) AS fitting`,
        ...offset > 0 ? [] : [
            await facetsStatement(asking, filter.catalogue, fitting)
        ]
    ], signal);
    const groups = Map.groupBy(facets, (row)=>textOf(row, 'name'));
    return {
        total: numberOf(total[0], 'total'),
        items: found.map(itemOf),
        facets: [
            ...groups
        ].map(([name, rows])=>({
                name,
                values: rows.map((row)=>({
                        value: textOf(row, 'value'),
                        count: numberOf(row, 'items')
                    }))
            }))
    };
}
/** Items as they were at a change of their catalogue; those that were not are left out. */ export async function itemsAsOf({ store, signal }, { itemIds, catalogue, sequence }) {
    if (itemIds.length === 0) return [];
    const { dialect } = store;
    const ids = itemIds.map((id)=>dialect.text(id)).join(', ');
    const sql = `SELECT ${itemColumns(dialect)} FROM item_version WHERE item_id IN (${ids}) ` + `AND catalogue = ${dialect.text(catalogue)} ` + `AND from_seq <= ${sequence} AND ${sequence} < to_seq`;
    const [rows = []] = await store.rows([
        sql
    ], signal);
    return rows.map(itemOf);
}

//# sourceMappingURL=items.js.map