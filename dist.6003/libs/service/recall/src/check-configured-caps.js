import { EVERY_ITEM } from "../../../engine/src/index.js";
import { expecting, TesseraError } from "../../../ops/errors/src/index.js";
import { checkFrequencyCaps, countCaps } from "./domain/frequency-caps.js";
import { withCaps } from "./domain/reach-request.js";
const KEY = 'recall.frequencyCaps';
/**
 * Refuses at the start what every recall would be refused for, or what would never cap anything.
 * @throws TesseraError CONFIG_INVALID
 */ export async function checkConfiguredCaps({ frequencyCaps: caps = [], historyItemsMax }, { retention }, catalogues) {
    if (caps.length === 0) return;
    checkFrequencyCaps(caps, KEY, {
        historyItemsMax,
        retention
    }, expecting('CONFIG_INVALID'));
    const nothing = withCaps(EVERY_ITEM, countCaps(caps, KEY, [], 0));
    for (const { catalogue } of catalogues){
        try {
            await catalogue.reach(nothing);
        } catch (thrown) {
            const { code, message, field = KEY } = TesseraError.from(thrown);
            if (code !== 'REQUEST_INVALID') throw thrown;
            throw new TesseraError('CONFIG_INVALID', message, {
                field,
                cause: thrown
            });
        }
    }
}

//# sourceMappingURL=check-configured-caps.js.map