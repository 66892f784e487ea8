import { staged } from "../suite.js";
import { continuityStage } from "./continuity.js";
import { simulated } from "./simulated.js";
import { transferStage } from "./transfer.js";
const STAGES = {
    simulated,
    transfer: transferStage,
    continuity: continuityStage
};
export const SHARED_STAGES = Object.keys(STAGES);
/** A pool that outlives its node. */ export const sharedSuite = staged(STAGES);

//# sourceMappingURL=fleet-suite.js.map