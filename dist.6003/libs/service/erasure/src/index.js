export { Erasures } from "./erasures.js";
export { PendingErasures } from "./pending-erasures.js";

//# sourceMappingURL=index.js.map