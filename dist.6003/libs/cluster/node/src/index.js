export { REFUSE } from "./body-reader.js";
export { History } from "./domain/history.js";
export { Life } from "./domain/life.js";
export { startOf } from "./domain/position.js";
export { ReplicatedState } from "./domain/replicated-state.js";
export { NodeErasures } from "./erasures.js";
export { Follower } from "./follower.js";
export { ClusterNode } from "./node.js";
export { eventualParts } from "./parts/eventual-parts.js";
export { RetrievalNode } from "./parts/retrieval-node.js";
export { Publication } from "./publication.js";
export { Reached } from "./reached.js";
export { BEGINS, SNAPSHOT } from "./snapshots-there.js";
export { untilThere } from "./standing.js";
export { Submissions } from "./submissions.js";

//# sourceMappingURL=index.js.map