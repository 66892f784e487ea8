export { ATTEMPTS_MAX, askInTurn } from './domain/ask-in-turn.js';
export { CostEstimates } from './domain/cost-estimates.js';
export {
  type DecidedVersions,
  type Difference,
  decideVersions,
} from './domain/decided-versions.js';
export { type Failure, failureOfCall, failureOfCode } from './domain/failures.js';
export { loadClassOf, parseLoadClass } from './domain/load-class.js';
export { type LogLag, LogProgress, type LogWord, NO_LOG } from './domain/log-progress.js';
export { longestFirst } from './domain/longest-first.js';
export {
  CALL_ROLES,
  type CallRole,
  checkedMembers,
  isNodeRole,
  isOfRole,
  type Member,
  type NodeRole,
  parseMembers,
} from './domain/members.js';
export { type Choice, type ChoiceReason, NodeLoads } from './domain/node-loads.js';
export { PARTITION_COUNT } from './domain/partition-owners.js';
export { PredictedWork } from './domain/predicted-work.js';
export { parseRelevanceProfile } from './domain/relevance-profile.js';
export { Router } from './domain/router.js';
export { partitionOf, RoutingTable } from './domain/table.js';
export { xxh32 } from './domain/xxh32.js';
export { dnsMembership } from './outside/dns-members.js';
export { etcdMembership, joinMembers, leaveMembers, type OwnerOf } from './outside/etcd-members.js';
export { type Membership, StaticMembership } from './outside/membership.js';
