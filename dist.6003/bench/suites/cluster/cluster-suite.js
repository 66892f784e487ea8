import { staged } from "../suite.js";
import { hop } from "./hop.js";
import { served } from "./served.js";
import { simulated } from "./simulated.js";
const STAGES = {
    simulated,
    hop,
    served
};
export const CLUSTER_STAGES = Object.keys(STAGES);
/** Many nodes: how users lie and move, and what a gateway costs. */ export const clusterSuite = staged(STAGES);

//# sourceMappingURL=cluster-suite.js.map