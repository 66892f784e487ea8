import { staged } from "../suite.js";
import { layerStage } from "./layer-stage.js";
import { plannedStage } from "./planned-stage.js";
import { servedStage } from "./served-stage.js";
const STAGES = {
    layer: layerStage,
    planned: plannedStage,
    served: servedStage
};
export const EXPERT_STAGES = Object.keys(STAGES);
/** Mixtures of experts: a layer beside ceilings and peers, passes as planned, requests served. */ export const expertsSuite = staged(STAGES);

//# sourceMappingURL=experts-suite.js.map