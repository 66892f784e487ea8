import { READ_TABLES, STILL_SEQ } from "../../../facts/src/index.js";
import { numberOf, textOf } from "./question.js";
const NAMES_MAX = 200;
/** Newest recalls whose scenes are looked at for keys. */ const SCENES_LOOKED_AT = 100_000;
/** The span and number of the facts, and names to filter by. */ export async function kept({ store, signal }) {
    const { dialect } = store;
    const { number } = dialect;
    const newest = `ORDER BY time DESC LIMIT ${SCENES_LOOKED_AT}`;
    const scenes = `(SELECT scene FROM recall_fact ${newest}) AS s`;
    const keyed = dialect.each('1 AS one_row', dialect.keys('scene'), 'scene_key', scenes);
    const items = `(SELECT attributes FROM item_version WHERE to_seq = ${STILL_SEQ}) AS i`;
    const named = dialect.each('1 AS one_row', dialect.names('attributes'), 'name', items);
    const [recalls, behaviours, keys = [], names = []] = await store.rows([
        `SELECT ${number('count(*)')} AS recalls, ${number(dialect.ms('min(time)'))} AS oldest, ` + `${number(dialect.ms('max(time)'))} AS newest FROM recall_fact`,
        `SELECT ${number('count(*)')} AS behaviours FROM behaviour`,
        `SELECT DISTINCT scene_key FROM (${keyed}) AS keyed ORDER BY scene_key LIMIT ${NAMES_MAX}`,
        `SELECT DISTINCT name FROM (${named}) AS named ORDER BY name LIMIT ${NAMES_MAX}`
    ], signal);
    return {
        keptFromMs: numberOf(recalls?.[0], 'oldest'),
        keptToMs: numberOf(recalls?.[0], 'newest'),
        recalls: numberOf(recalls?.[0], 'recalls'),
        behaviours: numberOf(behaviours?.[0], 'behaviours'),
        sceneKeys: keys.map((row)=>textOf(row, 'scene_key')),
        attributes: names.map((row)=>textOf(row, 'name'))
    };
}
/** The tables of facts. */ export function factSchema() {
    return READ_TABLES.map(({ name, text, columns })=>({
            name,
            text,
            columns: Object.entries(columns).map(([column, [type, meaning]])=>({
                    name: column,
                    type,
                    text: meaning
                }))
        }));
}

//# sourceMappingURL=kept.js.map