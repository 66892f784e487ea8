/** The engine's calls to a store of keys and values, on the thread that serves them. */ import { addon } from "./addon.js";
import { callNative } from "./native-error.js";
/**
 * A link that `KvPoolOptions.sharedLinks` takes and another thread serves; its number.
 * @param limitMs of one call; an erasure has ten times as much
 */ export function makeStoreLink(limitMs) {
    return callNative(()=>addon().storeLinkOpen(limitMs * 1000));
}
/** Calls under way fail; nothing for one that is closed. */ export function closeStoreLink(link) {
    callNative(()=>addon().storeLinkClose(link));
}
/** The serving side; of the thread that calls. @param link number of `makeStoreLink` */ export function openStoreLink(link) {
    let stop = ()=>undefined;
    return {
        serve: (each)=>{
            const takeAll = ()=>addon().storeLinkTake(link).forEach(each);
            stop = callNative(()=>addon().storeLinkServe(link, takeAll));
        },
        bytes: (id)=>callNative(()=>addon().storeLinkBytes(link, id)),
        end: (id, status, bytes, text)=>callNative(()=>addon().storeLinkEnd(link, id, status, bytes, text)),
        setAvailable: (isAvailable)=>callNative(()=>addon().storeLinkSetAvailable(link, isAvailable)),
        close: ()=>{
            stop();
            stop = ()=>undefined;
        }
    };
}

//# sourceMappingURL=store-link.js.map