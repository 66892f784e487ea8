import { rateOf } from "../domain/statistics.js";
import { numberOf, textOf } from "./question.js";
/** Outcomes of recalled items by adapter and position. */ export function outcomeStatement(pairs, { number }) {
    return `SELECT adapter, ${number('position')} AS place, ${number('count(*)')} AS pairs, ` + `${number('sum(impression)')} AS impressions, ${number('sum(click)')} AS clicks, ` + `${number('sum(conversion)')} AS conversions FROM (${pairs}) AS pairs ` + 'GROUP BY adapter, position';
}
const ALL = 0;
/**
 * By adapter: all positions together, then each.
 * @param recalled recalled items (`counted`) by adapter and place
 * @param pairs of outcomeStatement
 */ export function outcomeRows(recalled, pairs) {
    const areSeen = pairs.some((row)=>numberOf(row, 'impressions') > 0);
    const cells = new Map();
    const keyOf = (adapter, place)=>JSON.stringify([
            adapter,
            place
        ]);
    for (const row of [
        ...recalled,
        ...pairs
    ]){
        for (const place of [
            ALL,
            numberOf(row, 'place')
        ]){
            const key = keyOf(textOf(row, 'adapter'), place);
            const cell = cells.get(key) ?? {};
            for (const name of [
                'counted',
                'pairs',
                'impressions',
                'clicks',
                'conversions'
            ]){
                cell[name] = (cell[name] ?? 0) + numberOf(row, name);
            }
            cells.set(key, cell);
        }
    }
    const outcome = [
        ...cells
    ].map(([key, cell])=>{
        const [adapter, position] = JSON.parse(key);
        const { counted: had = 0, pairs: shown = 0, impressions = 0 } = cell;
        const trials = areSeen ? shown : had;
        return {
            adapter,
            position,
            recalled: had,
            impressions,
            clicks: rateOf(cell.clicks ?? 0, trials),
            conversions: rateOf(cell.conversions ?? 0, trials)
        };
    });
    outcome.sort((a, b)=>a.adapter === b.adapter ? a.position - b.position : a.adapter < b.adapter ? -1 : 1);
    return {
        shownBy: areSeen ? 'impressions' : 'recalls',
        outcome
    };
}

//# sourceMappingURL=outcome-rows.js.map