import { fail } from "../terminal/command.js";
/**
 * Targets of a file that DuckDB reads, by recall ID.
 * @throws UsageError for one that has other columns, or no probabilities
 */ export async function readTargets(store, path) {
    const sql = 'SELECT CAST(recall_id AS VARCHAR) AS recall_id, CAST(item_id AS VARCHAR) AS item_id, ' + `CAST(propensity AS DOUBLE) AS propensity FROM ${store.dialect.text(path)}`;
    const [rows = []] = await store.rows([
        sql
    ]).catch((thrown)=>fail('target', 'columns recall_id, item_id, propensity', thrown.message.split('\n')[0] ?? ''));
    const targets = new Map();
    for (const { recall_id, item_id, propensity } of rows){
        const [recallId, itemId, share] = [
            String(recall_id),
            String(item_id),
            Number(propensity)
        ];
        const own = targets.get(recallId) ?? new Map();
        targets.set(recallId, own);
        const place = `${recallId} ${itemId}`;
        if (!(share >= 0 && share <= 1)) fail('target', `a propensity of 0..1 for ${place}`, `${share}`);
        if (own.has(itemId)) fail('target', `one row for ${place}`, 'two');
        own.set(itemId, share);
    }
    return targets;
}

//# sourceMappingURL=read-targets.js.map