import { staged } from "../suite.js";
import { goingOn } from "./going-on.js";
import { push } from "./push.js";
import { rollout } from "./rollout.js";
import { throughput } from "./throughput.js";
import { weights } from "./weights.js";
const PARTS = {
    throughput,
    push,
    rollout,
    weights,
    'going-on': goingOn
};
export const ADAPTER_PARTS = Object.keys(PARTS);
/** The costs of adapters while they serve, and of their coming and going. */ export const adaptersSuite = staged(PARTS);

//# sourceMappingURL=adapters-suite.js.map