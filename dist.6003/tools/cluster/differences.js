import { createHash } from "node:crypto";
import { CatalogueClient } from "../served/catalogue-client.js";
const LIST_MS = 600_000;
const textOf = (item)=>JSON.stringify(item);
const digestOf = (text)=>createHash('sha256').update(text).digest('base64');
/**
 * Items that two nodes do not have alike, in the order of their IDs. Of one node the digests are
 * held, of both the items that differ. Rejects as the calls do.
 */ export async function differencesOf([first, second], catalogue, connection) {
    const digests = new Map();
    await eachItem(first, catalogue, connection, (itemId, text)=>{
        digests.set(itemId, digestOf(text));
    });
    const other = new Map();
    await eachItem(second, catalogue, connection, (itemId, text)=>{
        if (digests.get(itemId) === digestOf(text)) digests.delete(itemId);
        else other.set(itemId, text);
    });
    const own = new Map();
    if (digests.size > 0) {
        await eachItem(first, catalogue, connection, (itemId, text)=>{
            if (digests.has(itemId)) own.set(itemId, text);
        });
    }
    const ids = [
        ...new Set([
            ...own.keys(),
            ...other.keys()
        ])
    ].sort();
    return ids.map((itemId)=>({
            itemId,
            first: own.get(itemId),
            second: other.get(itemId)
        }));
}
async function eachItem(address, catalogue, connection, take) {
    const client = new CatalogueClient(address, catalogue, connection);
    try {
        for await (const { items } of client.stream('ListItems', {}, LIST_MS)){
            for (const item of items)take(item.itemId, textOf(item));
        }
    } finally{
        client.close();
    }
}

//# sourceMappingURL=differences.js.map