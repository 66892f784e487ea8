export { ATTEMPTS_MAX, askInTurn } from "./domain/ask-in-turn.js";
export { CostEstimates } from "./domain/cost-estimates.js";
export { decideVersions } from "./domain/decided-versions.js";
export { failureOfCall, failureOfCode } from "./domain/failures.js";
export { loadClassOf, parseLoadClass } from "./domain/load-class.js";
export { LogProgress, NO_LOG } from "./domain/log-progress.js";
export { longestFirst } from "./domain/longest-first.js";
export { CALL_ROLES, checkedMembers, isNodeRole, isOfRole, parseMembers } from "./domain/members.js";
export { NodeLoads } from "./domain/node-loads.js";
export { PARTITION_COUNT } from "./domain/partition-owners.js";
export { PredictedWork } from "./domain/predicted-work.js";
export { parseRelevanceProfile } from "./domain/relevance-profile.js";
export { Router } from "./domain/router.js";
export { partitionOf, RoutingTable } from "./domain/table.js";
export { xxh32 } from "./domain/xxh32.js";
export { dnsMembership } from "./outside/dns-members.js";
export { etcdMembership, joinMembers, leaveMembers } from "./outside/etcd-members.js";
export { StaticMembership } from "./outside/membership.js";

//# sourceMappingURL=index.js.map