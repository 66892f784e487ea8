import { staged } from "../suite.js";
import { alternating } from "./alternating.js";
import { engineBoundHalf, served } from "./served.js";
const STAGES = {
    served,
    bound: engineBoundHalf,
    rest: alternating
};
export const EDGE_STAGES = Object.keys(STAGES);
/**
 * Cost of a recall outside the engine, asked over gRPC from another process by a client that
 * costs little, of the service as `npm start` runs it.
 */ export const edgesSuite = staged(STAGES);

//# sourceMappingURL=edges-suite.js.map