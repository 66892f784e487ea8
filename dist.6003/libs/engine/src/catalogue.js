/** Catalogues as the service sees them: a port with a native and a fake implementation. */ import { NOTHING } from "../../../native/ts/index.js";
export const NO_ITEM = NOTHING.item;
export const NO_ELIGIBILITY = {
    predicate: undefined,
    allowed: undefined,
    denied: [],
    seen: [],
    caps: []
};
export const NO_POLICY = {
    orderBy: '',
    diversity: []
};
/** All live items, those of a SID in their own order. */ export const EVERY_ITEM = {
    eligibility: NO_ELIGIBILITY,
    itemPolicy: NO_POLICY
};

//# sourceMappingURL=catalogue.js.map