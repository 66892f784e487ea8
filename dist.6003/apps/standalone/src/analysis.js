import "../../../libs/ops/config/src/index.js";
import { parseOutcomes } from "../../../libs/insight/facts/src/index.js";
import { FactAnalysis } from "../../../libs/insight/inspection/src/index.js";
import { MILLISECONDS_PER_HOUR, MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
/** Milliseconds and rows of one question. */ const LIMITS = {
    timeoutMs: 30 * MILLISECONDS_PER_SECOND,
    rowsMax: 1_000_000
};
/** Facts of the last so many milliseconds may be missing in an answer. */ const REFRESH_MS = 10 * MILLISECONDS_PER_SECOND;
const PERCENT = 100;
/** Undefined where no facts are kept. */ export function analysisOf({ inspection: kept, behaviours }, inspection) {
    if (inspection === undefined) return undefined;
    const { store, facts } = inspection;
    const { windowMs, impressions, conversions } = parseOutcomes(kept.outcomes);
    const clicks = [
        '',
        ...behaviours.clickActions.split(',').map((action)=>action.trim())
    ];
    let refreshedMs = 0;
    let refreshing = Promise.resolve();
    return {
        asking: {
            store: new FactAnalysis(store, LIMITS),
            actions: {
                windowMs,
                clicks,
                impressions,
                conversions
            }
        },
        state: ()=>facts.state(),
        refresh: ()=>{
            if (Date.now() - refreshedMs < REFRESH_MS) return refreshing;
            refreshedMs = Date.now();
            // Facts that cannot be written now are missing, and `about` says why.
            refreshing = facts.flush().catch(()=>undefined);
            return refreshing;
        },
        keepMs: kept.keepHours * MILLISECONDS_PER_HOUR,
        keepBytes: kept.keepBytes,
        recordShare: kept.percent / PERCENT
    };
}

//# sourceMappingURL=analysis.js.map