/**
 * Frequency caps: what a user has done often enough of late is not to be had. Counted by item here;
 * the engine adds up what items with a shared text have, by the version that it searches.
 */ import { REACH_LIMITS } from "../../../../engine/src/index.js";
import { expecting } from "../../../../ops/errors/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../../ops/units/src/index.js";
/** A cap's action that behaviours of all actions count for. */ const ALL_ACTIONS = '*';
const ACTION_LENGTH_MAX = 64;
const ATTRIBUTE_LENGTH_MAX = 256;
export const NO_CAPS = {
    caps: [],
    outcome: undefined
};
/**
 * Refuses what has no meaning, and what no behaviours that are kept could ever prove.
 * @param path of the list
 * @throws TesseraError of `refuse` with the path of the member at fault
 */ export function checkFrequencyCaps(caps, path, countable, refuse) {
    const { frequencyCaps } = REACH_LIMITS;
    if (caps.length > frequencyCaps) throw refuse(path, `at most ${frequencyCaps} caps`, caps.length);
    caps.forEach((cap, index)=>{
        const { action, maxBehaviours, windowSeconds, attribute } = cap;
        const within = (field, min, max, got, of = '')=>{
            if (Number.isInteger(got) && got >= min && got <= max) return;
            throw refuse(`${path}[${index}].${field}`, `${min}..${max}${of}`, got);
        };
        within('action', 1, ACTION_LENGTH_MAX, action.length, ' characters');
        within('attribute', 0, ATTRIBUTE_LENGTH_MAX, attribute.length, ' characters');
        const { historyItemsMax, retention } = countable;
        const read = ', which a recall reads (recall.historyItemsMax)';
        within('maxBehaviours', 1, historyItemsMax, maxBehaviours, read);
        within('windowSeconds', 1, Number.MAX_SAFE_INTEGER, windowSeconds);
        const kept = retention?.windows[retention.windowOf(action)];
        if (kept === undefined || action === ALL_ACTIONS) return;
        const keeps = `, which behaviours.retention keeps of '${action}'`;
        within('maxBehaviours', 1, kept.behavioursMax, maxBehaviours, keeps);
        const ageSecondsMax = kept.ageMsMax / MILLISECONDS_PER_SECOND;
        within('windowSeconds', 1, ageSecondsMax, windowSeconds, keeps);
    });
}
/**
 * The behaviours with each item that count towards each cap. Items of a cap of items alone are
 * those that are full; of an attribute, none where they could not fill a text together.
 * @param path of the list, which explanations name
 * @param behaviours oldest first
 * @param nowMs milliseconds since 1970; what is to come counts as what is now
 */ export function countCaps(caps, path, behaviours, nowMs) {
    return caps.map(({ action, attribute, maxBehaviours, windowSeconds }, index)=>{
        const counts = new Map();
        let total = 0;
        for(let at = behaviours.length - 1; at >= 0; at -= 1){
            const behaviour = behaviours[at];
            if (!isWithin(behaviour, windowSeconds, nowMs)) break;
            if (action !== ALL_ACTIONS && behaviour.action !== action) continue;
            counts.set(behaviour.itemId, (counts.get(behaviour.itemId) ?? 0) + 1);
            total += 1;
        }
        const least = attribute === '' ? maxBehaviours : 1;
        const found = total < maxBehaviours ? [] : [
            ...counts
        ].filter(([, count])=>count >= least);
        return {
            path: `${path}[${index}]`,
            attribute,
            maxBehaviours,
            itemIds: found.map(([itemId])=>itemId),
            behaviours: Uint32Array.from(found, ([, count])=>count)
        };
    });
}
/**
 * True if behaviours may be missing in the window of a cap: as many were read as may be, or as are
 * kept, and the oldest of them lies within it.
 */ export function areCut(caps, { historyItemsMax, retention }, behaviours, nowMs) {
    return caps.some(({ action, windowSeconds })=>{
        const mayBeMissing = (found, most)=>{
            const [oldest] = found;
            return found.length >= most && oldest !== undefined && isWithin(oldest, windowSeconds, nowMs);
        };
        if (mayBeMissing(behaviours, historyItemsMax)) return true;
        return (retention?.windows ?? []).some(({ behavioursMax }, window)=>{
            if (behaviours.length < behavioursMax) return false;
            if (action !== ALL_ACTIONS && retention?.windowOf(action) !== window) return false;
            const own = behaviours.filter((each)=>retention?.windowOf(each.action) === window);
            return mayBeMissing(own, behavioursMax);
        });
    });
}
function isWithin({ time }, windowSeconds, nowMs) {
    const timeMs = Math.round(time * MILLISECONDS_PER_SECOND);
    return nowMs - timeMs < windowSeconds * MILLISECONDS_PER_SECOND;
}
const KEY = 'recall.frequencyCaps';
const invalid = expecting('CONFIG_INVALID');
const UNIT_SECONDS = {
    s: 1,
    m: 60,
    h: 3600,
    d: 86_400
};
/**
 * `impression=3,1d; impression=10,7d,campaign`: at most 3 impressions of an item in a day, and 10
 * of the items of a campaign in a week.
 * @throws TesseraError CONFIG_INVALID
 */ export function parseFrequencyCaps(text) {
    const caps = text.split(';').map((part)=>part.trim());
    return caps.filter((part)=>part !== '').map(parseCap);
}
function parseCap(text) {
    const match = /^([^=]+)=\s*(\d+)\s*,\s*(\d+)([smhd])\s*(?:,(.+))?$/.exec(text);
    if (match === null) {
        throw invalid(KEY, 'ACTION=COUNT,WINDOW or ACTION=COUNT,WINDOW,ATTRIBUTE', `'${text}'`);
    }
    const [, action = '', count = '', window = '', unit = '', attribute = ''] = match;
    return {
        action: action.trim(),
        maxBehaviours: Number(count),
        windowSeconds: Number(window) * UNIT_SECONDS[unit],
        attribute: attribute.trim()
    };
}

//# sourceMappingURL=frequency-caps.js.map