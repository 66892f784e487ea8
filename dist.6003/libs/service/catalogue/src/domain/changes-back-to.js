import { createHash } from "node:crypto";
import { EVERY_ITEM } from "../../../../engine/src/index.js";
import { MESSAGE_CHANGES_MAX } from "./change-batch.js";
const asText = (item)=>JSON.stringify(item);
const upsertOf = ({ itemId, sid, title, attributes, priority })=>({
        op: 'upsert',
        itemId,
        sid,
        title,
        attributes,
        priority
    });
/**
 * The changes that make the items of the newest version those of version `to`. Pauses come first,
 * so that no paused item is live in between but one that had been removed.
 * Rejects with CATALOGUE_NOT_FOUND where the version is not kept.
 */ export async function changesBackTo(catalogue, to) {
    const request = EVERY_ITEM;
    const { reach: old } = await catalogue.judge({
        request,
        itemId: '',
        sequence: to
    });
    const now = await catalogue.reach(EVERY_ITEM);
    const wanted = new Map();
    for (const page of catalogue.listItems(old)){
        for (const item of page)wanted.set(item.itemId, item);
    }
    const first = [];
    const second = [];
    const add = ([one, other])=>{
        if (one !== undefined) first.push(one);
        if (other !== undefined) second.push(other);
    };
    for (const page of catalogue.listItems(now)){
        for (const item of page){
            const before = wanted.get(item.itemId);
            wanted.delete(item.itemId);
            add(before === undefined ? [
                {
                    op: 'remove',
                    itemId: item.itemId
                }
            ] : changesOf(item, before));
        }
    }
    for (const item of wanted.values())add(changesOf(undefined, item));
    const batches = [
        first,
        second
    ].filter((changes)=>changes.length > 0).map(inMessages);
    return {
        batches,
        onto: now.sequence
    };
}
/** Of a change that is made in steps: each has a key of its own, from the caller's. */ export function stepOf(how, onto) {
    const { key = '' } = how;
    if (key === '') return how;
    return {
        ...how,
        key: createHash('sha256').update(`${key} ${onto}`).digest('hex')
    };
}
/** From what an item is, if anything, to what it was. */ function changesOf(item, before) {
    const { itemId, isPaused } = before;
    const isSame = item !== undefined && asText({
        ...item,
        isPaused
    }) === asText(before);
    const content = isSame ? [] : [
        upsertOf(before)
    ];
    if (isPaused === (item?.isPaused ?? false)) return content;
    if (!isPaused) return [
        ...content,
        {
            op: 'resume',
            itemId
        }
    ];
    const pause = {
        op: 'pause',
        itemId
    };
    return item === undefined ? [
        ...content,
        pause
    ] : [
        pause,
        ...content
    ];
}
function inMessages(changes) {
    const messages = [];
    for(let first = 0; first < changes.length; first += MESSAGE_CHANGES_MAX){
        messages.push(changes.slice(first, first + MESSAGE_CHANGES_MAX));
    }
    return messages;
}

//# sourceMappingURL=changes-back-to.js.map