import { PackedWriter, writeReachRequest } from "../../../native/ts/index.js";
/** Used again by every request: the addon copies what it reads during the call. */ const out = new PackedWriter();
const BY_SCORE = {
    name: '',
    scoreWeight: NaN,
    floor: NaN,
    weights: []
};
/** A request for a reach as the addon reads it; good until the next call. */ export function packReach({ eligibility, itemPolicy, valuation = BY_SCORE }) {
    return out.record(writeReachRequest, {
        eligibility,
        itemPolicy,
        valuation
    });
}

//# sourceMappingURL=pack-reach.js.map