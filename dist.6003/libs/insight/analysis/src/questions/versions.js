import { wholeSpan } from "../domain/buckets.js";
import { outcomePairs } from "../domain/outcomes.js";
import { exposures, exposuresByValue, recallsOf } from "../domain/relations.js";
import { attributeNamed } from "./attribute-bounds.js";
import { outcomeRows, outcomeStatement } from "./outcome-rows.js";
import { answeredOf, numberOf, panelsOf, textOf } from "./question.js";
import { pairStatements, pairsOf } from "./version-pairs.js";
/** The versions that served, beside each other. */ export async function versions(asking, every, { attribute, isWhole }) {
    const { store, actions, signal } = asking;
    const { dialect } = store;
    const { number } = dialect;
    const [ofAll = [], canaries = []] = await store.rows([
        armsStatement(every, dialect),
        canaryStatement(every, dialect)
    ], signal);
    const [canary] = isWhole ? [] : canaries;
    const filter = canary === undefined ? every : servedWith(canary, every);
    const [byArm = ofAll] = filter === every ? [] : await store.rows([
        armsStatement(filter, dialect)
    ], signal);
    const { whole } = panelsOf(asking, filter, answeredOf(byArm));
    // Users of both versions had one of them before the canary began.
    const { overlap } = panelsOf(asking, every, answeredOf(ofAll));
    const exposed = exposures(filter, wholeSpan(filter), await store.hours(), dialect);
    const by = await attributeNamed(asking, filter.catalogue, attribute);
    const valued = exposuresByValue(filter, by, exposed, dialect);
    const length = number(dialect.length('item_ids'));
    const ofPanel = answeredIn(whole, dialect);
    const rows = await store.rows([
        attribute === '' ? 'SELECT 1 AS nothing' : `SELECT adapter, value, ${number('sum(n)')} AS items FROM (${valued}) AS valued ` + 'GROUP BY adapter, value',
        `SELECT adapter, ${length} AS length, ${number('count(*)')} AS recalls ` + `FROM (${ofPanel}) AS panel_recall GROUP BY adapter, length`,
        outcomeStatement(outcomePairs(whole, actions, dialect), dialect),
        ...pairStatements(overlap, by, dialect)
    ], signal);
    const [byValue = [], byLength = [], outcomes = [], ...ofPairs] = rows;
    return {
        fromMs: filter.fromMs,
        toMs: filter.toMs,
        canary: textOf(canary, 'adapter'),
        oneIn: whole.oneIn,
        overlapOneIn: overlap.oneIn,
        versions: versionsOf(byArm),
        pairs: pairsOf(ofPairs),
        attribute,
        exposure: attribute === '' ? [] : exposureOf(byValue),
        ...outcomeRows(placesOf(byLength), outcomes)
    };
}
const answeredIn = (filter, dialect)=>`SELECT * FROM (${recallsOf(filter, dialect)}) AS r WHERE code = 'OK'`;
/** The canary that began last, and the time that it served as one. */ function canaryStatement(filter, dialect) {
    const { number } = dialect;
    return `SELECT adapter, ${number(dialect.ms('min(time)'))} AS from_ms, ` + `${number(dialect.ms('max(time)'))} AS last_ms FROM (${answeredIn(filter, dialect)}) AS r ` + "WHERE arm = 'canary' GROUP BY adapter ORDER BY from_ms DESC, adapter LIMIT 1";
}
const servedWith = (canary, filter)=>({
        ...filter,
        fromMs: numberOf(canary, 'from_ms'),
        toMs: numberOf(canary, 'last_ms') + 1
    });
/** Answered recalls by adapter and arm, those that a panel is of, and users under the arm ''. */ function armsStatement(filter, dialect) {
    const { number } = dialect;
    const asked = 'SELECT adapter, arm, user_hash, max(adapter_name) AS any_name, count(*) AS n ' + `FROM (${recallsOf(filter, dialect)}) AS r WHERE code = 'OK' GROUP BY adapter, arm, user_hash`;
    const ofUsers = number('sum(CASE WHEN user_hash <> 0 THEN n ELSE 0 END)');
    return `WITH asked AS (${asked}) SELECT adapter, arm, max(any_name) AS name, ` + `${number('sum(n)')} AS recalls, ${ofUsers} AS of_users, ${number('0')} AS users ` + "FROM asked GROUP BY adapter, arm UNION ALL SELECT adapter, '' AS arm, '' AS name, " + `${number('0')} AS recalls, ${number('0')} AS of_users, ` + `${number('count(DISTINCT user_hash)')} AS users FROM asked WHERE user_hash <> 0 ` + 'GROUP BY adapter';
}
/** Recalled items by place: each list has one at every place up to its length. */ function placesOf(byLength) {
    return byLength.flatMap((row)=>Array.from({
            length: numberOf(row, 'length')
        }, (_, index)=>({
                adapter: textOf(row, 'adapter'),
                place: index + 1,
                counted: numberOf(row, 'recalls')
            })));
}
function versionsOf(byArm) {
    const groups = Map.groupBy(byArm, (row)=>textOf(row, 'adapter'));
    const found = [
        ...groups
    ].map(([adapter, arms])=>{
        const frequent = [
            ...arms
        ].sort((a, b)=>numberOf(b, 'recalls') - numberOf(a, 'recalls'));
        return {
            adapter,
            name: textOf(frequent[0], 'name'),
            arm: textOf(frequent[0], 'arm'),
            recalls: arms.reduce((sum, row)=>sum + numberOf(row, 'recalls'), 0),
            users: Math.max(...arms.map((row)=>numberOf(row, 'users')))
        };
    });
    return found.sort((a, b)=>b.recalls - a.recalls || (a.adapter < b.adapter ? -1 : 1));
}
function exposureOf(byValue) {
    const totals = new Map();
    for (const row of byValue){
        const adapter = textOf(row, 'adapter');
        totals.set(adapter, (totals.get(adapter) ?? 0) + numberOf(row, 'items'));
    }
    return byValue.map((row)=>{
        const [adapter, items] = [
            textOf(row, 'adapter'),
            numberOf(row, 'items')
        ];
        const share = items / (totals.get(adapter) ?? 1);
        return {
            adapter,
            value: textOf(row, 'value'),
            items,
            share
        };
    }).sort((a, b)=>a.adapter === b.adapter ? b.items - a.items || (a.value < b.value ? -1 : 1) : a.adapter < b.adapter ? -1 : 1);
}

//# sourceMappingURL=versions.js.map