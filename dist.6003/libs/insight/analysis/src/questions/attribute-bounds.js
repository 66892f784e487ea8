import { STILL_SEQ } from "../../../facts/src/index.js";
import { boundsOf } from "../domain/attribute-values.js";
import { numberOf, textOf } from "./question.js";
/** Bounds of attributes with many numbers, of all items: filters do not move them. */ export async function attributeBounds({ store, signal }, catalogue, only) {
    const { dialect } = store;
    const { number } = dialect;
    const now = `(SELECT attributes FROM item_version WHERE catalogue = ${dialect.text(catalogue)} ` + `AND to_seq = ${STILL_SEQ}) AS i`;
    const named = only === undefined ? dialect.each('attributes', dialect.names('attributes'), 'name', now) : `SELECT attributes, ${dialect.text(only)} AS name FROM ${now}`;
    const amount = dialect.numeric('attributes', 'name');
    const numbers = `SELECT name, ${amount} AS amount FROM (${named}) AS named`;
    const [rows = []] = await store.rows([
        `SELECT name, ${number('count(DISTINCT amount)')} AS amounts, ` + `${dialect.quantile('amount', 0.05)} AS low, ${dialect.quantile('amount', 0.95)} AS high ` + `FROM (${numbers}) AS numbers WHERE amount IS NOT NULL GROUP BY name`
    ], signal);
    const all = rows.map((row)=>{
        const bounds = boundsOf(numberOf(row, 'amounts'), numberOf(row, 'low'), numberOf(row, 'high'));
        return [
            textOf(row, 'name'),
            bounds
        ];
    });
    return new Map(all.filter(([, bounds])=>bounds.length > 0));
}
/** An attribute with its bounds. */ export async function attributeNamed(asking, catalogue, name) {
    const bounds = await attributeBounds(asking, catalogue, name);
    return {
        name,
        bounds: bounds.get(name) ?? []
    };
}

//# sourceMappingURL=attribute-bounds.js.map