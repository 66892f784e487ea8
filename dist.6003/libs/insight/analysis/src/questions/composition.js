import { beginsOf, bucketsOf } from "../domain/buckets.js";
import { exposures, exposuresByValue, valuedVersions } from "../domain/relations.js";
import { giniOfGroups } from "../domain/statistics.js";
import { attributeNamed } from "./attribute-bounds.js";
import { marksOf, marksStatements } from "./marks.js";
import { numberOf, textOf } from "./question.js";
const OTHER = '(other)';
/** The values of an attribute in what was recalled, over time and by scene. */ export async function composition(asking, filter, { attribute, buckets: bucketsMax, across, values: valuesMax }) {
    const { store, signal } = asking;
    const { dialect } = store;
    const { number } = dialect;
    const buckets = bucketsOf(filter, bucketsMax);
    const by = await attributeNamed(asking, filter.catalogue, attribute);
    const hours = await store.hours();
    const whole = exposures(filter, buckets, hours, dialect);
    const byValue = `SELECT value, ${number('sum(n)')} AS items ` + `FROM (${exposuresByValue(filter, by, whole, dialect)}) AS valued GROUP BY value`;
    const top = `${byValue} ORDER BY items DESC, value LIMIT ${valuesMax}`;
    const [topValues = [], groups = [], ...rows] = await store.rows([
        top,
        groupsStatement(byValue, by, filter, dialect),
        ...marksStatements(filter, dialect)
    ], signal);
    const marks = marksOf(rows);
    const runs = runsOf(filter, marks);
    const exposed = runs.map((run)=>{
        const part = exposures({
            ...filter,
            ...run
        }, buckets, hours, dialect);
        return `SELECT greatest(time_ms, ${run.fromMs}) AS time_ms, catalogue, scene, adapter, item_id, ` + `version_seq, n FROM (${part}) AS run_part`;
    });
    const valued = exposuresByValue(filter, by, exposed.join(' UNION ALL '), dialect);
    const told = topValues.map((row)=>textOf(row, 'value'));
    const cells = cellsStatement(valued, told, across, dialect);
    const [found = []] = await store.rows([
        cells
    ], signal);
    const values = valuesOf(found);
    const keyOf = (place, value)=>JSON.stringify([
            place,
            value
        ]);
    const itemsBy = (key)=>{
        const sums = sumsBy(found, (row)=>keyOf(textOf(row, key), textOf(row, 'told')));
        return (place)=>values.map(({ value })=>sums.get(keyOf(place, value)) ?? 0);
    };
    const [overTime, byScene] = [
        itemsBy('time_ms'),
        itemsBy('scene')
    ];
    const scenes = new Set(across === '' ? [] : found.map((row)=>textOf(row, 'scene')));
    return {
        attribute,
        bucketMs: buckets.lengthMs,
        values,
        gini: giniOfGroups(groups.map((row)=>[
                numberOf(row, 'n'),
                numberOf(row, 'alike')
            ])),
        series: partsOf(buckets, runs).map(({ timeMs, untilMs })=>({
                timeMs,
                untilMs,
                items: overTime(String(timeMs))
            })),
        sceneKey: across,
        matrix: [
            ...scenes
        ].sort().map((place)=>({
                scene: place,
                items: byScene(place)
            })),
        marks
    };
}
/** Items by bucket, scene and value; values that are not told are one. */ function cellsStatement(valued, told, across, dialect) {
    const { number, text, member } = dialect;
    const isTold = told.length === 0 ? '1 = 0' : `value IN (${told.map(text).join(', ')})`;
    const scene = across === '' ? "''" : member('scene', across);
    return `SELECT time_ms, scene, told, ${number('sum(n)')} AS items FROM (SELECT time_ms, ` + `${scene} AS scene, CASE WHEN ${isTold} THEN value ELSE ${text(OTHER)} END AS told, ` + `n FROM (${valued}) AS valued) AS told_items GROUP BY time_ms, scene, told`;
}
/** Marks that split buckets at most. */ const SPLITS_MAX = 8;
/** The span between the largest changes, which are no more than can be seen. */ function runsOf({ fromMs, toMs }, marks) {
    const inside = marks.filter(({ timeMs })=>timeMs > fromMs && timeMs < toMs);
    const size = ({ kind, changes })=>kind === 'catalogue' ? changes : Number.MAX_SAFE_INTEGER;
    const largest = [
        ...inside
    ].sort((a, b)=>size(b) - size(a)).slice(0, SPLITS_MAX);
    const cuts = [
        ...new Set(largest.map(({ timeMs })=>timeMs))
    ].sort((a, b)=>a - b);
    return [
        fromMs,
        ...cuts
    ].map((from, at)=>({
            fromMs: from,
            toMs: cuts[at] ?? toMs
        }));
}
/** Buckets, those in which a run ends in parts. */ function partsOf(buckets, runs) {
    return runs.flatMap(({ fromMs, toMs })=>beginsOf(buckets, toMs).filter((beginMs)=>beginMs + buckets.lengthMs > fromMs).map((beginMs)=>({
                timeMs: Math.max(beginMs, fromMs),
                untilMs: Math.min(beginMs + buckets.lengthMs, toMs)
            })));
}
/** How many values have how many recalled items, those that no recall had included. */ function groupsStatement(byValue, by, filter, dialect) {
    const { number } = dialect;
    const at = dialect.time(filter.toMs);
    const live = `SELECT value, ${number('0')} AS items FROM (${valuedVersions(filter, by, dialect)}) AS v ` + `WHERE catalogue = ${dialect.text(filter.catalogue)} AND live ` + `AND from_time <= ${at} AND to_time > ${at}`;
    const every = `SELECT value, sum(items) AS n FROM (${byValue} UNION ALL ${live}) AS every_value ` + "WHERE value <> '' GROUP BY value";
    const columns = `${number('n')} AS n, ${number('count(*)')} AS alike`;
    return `SELECT ${columns} FROM (${every}) AS e GROUP BY n`;
}
function sumsBy(found, keyOf) {
    const sums = new Map();
    for (const row of found){
        sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + numberOf(row, 'items'));
    }
    return sums;
}
/** Most frequent first, the rest at the end. */ function valuesOf(found) {
    const sums = [
        ...sumsBy(found, (row)=>textOf(row, 'told'))
    ];
    const total = sums.reduce((sum, [, items])=>sum + items, 0);
    const isOther = (value)=>Number(value === OTHER);
    return sums.map(([value, items])=>({
            value,
            items,
            share: items / total
        })).sort((a, b)=>isOther(a.value) - isOther(b.value) || b.items - a.items || (a.value < b.value ? -1 : 1));
}

//# sourceMappingURL=composition.js.map