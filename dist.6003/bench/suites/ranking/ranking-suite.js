import { staged } from "../suite.js";
import { peersStage } from "./peers-stage.js";
import { timesStage } from "./times-stage.js";
const STAGES = {
    times: timesStage,
    peers: peersStage
};
export const RANKING_STAGES = Object.keys(STAGES);
/** Heads over items on the state of a recall: its time, and beside other engines. */ export const rankingSuite = staged(STAGES);

//# sourceMappingURL=ranking-suite.js.map