/** The changes by which a catalogue gets the touched buckets of a delta, complete. */ import { TesseraError } from "../../../../ops/errors/src/index.js";
import { completed } from "./bundle-row.js";
const keyOf = (sid)=>sid.join();
/**
 * Every touched bucket is replaced: items that it lists and the delta describes are upserted, items
 * that are in it now and are not listed any more are removed. An item that another bucket lists has
 * moved there.
 * @throws TesseraError CATALOGUE_INVALID where an item of a bucket is neither described nor there
 */ export function deltaChanges(rows, buckets, present) {
    const described = new Map(rows.map((row)=>[
            row.itemId,
            row
        ]));
    const listed = new Set(buckets.flatMap(({ itemIds })=>itemIds));
    const touched = new Set(buckets.map(({ sid })=>keyOf(sid)));
    const unknown = new Set([
        ...listed
    ].filter((itemId)=>!described.has(itemId)));
    const removed = [];
    const upserts = new Map(rows.map((row)=>[
            row.itemId,
            completed(row)
        ]));
    for (const item of flat(present)){
        unknown.delete(item.itemId);
        const row = described.get(item.itemId);
        const wanted = row === undefined ? undefined : completed(row, item);
        if (wanted !== undefined && isSame(item, wanted)) upserts.delete(item.itemId);
        else if (wanted !== undefined) upserts.set(item.itemId, wanted);
        if (touched.has(keyOf(item.sid)) && !listed.has(item.itemId) && row === undefined) {
            removed.push({
                op: 'remove',
                itemId: item.itemId
            });
        }
    }
    const [stranger] = unknown;
    if (stranger !== undefined) {
        const message = `bundle: item '${stranger}' of a touched bucket is neither described nor known`;
        throw new TesseraError('CATALOGUE_INVALID', message, {
            field: 'bundle'
        });
    }
    const changed = [
        ...upserts.values()
    ].map((item)=>({
            op: 'upsert',
            ...item
        }));
    return [
        ...removed,
        ...changed
    ];
}
function* flat(pages) {
    for (const page of pages)yield* page;
}
function isSame(a, b) {
    return keyOf(a.sid) === keyOf(b.sid) && a.title === b.title && a.priority === b.priority && a.attributes === b.attributes;
}

//# sourceMappingURL=bundle-delta.js.map