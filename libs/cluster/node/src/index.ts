export { REFUSE } from './body-reader.js';
export type { Erasure } from './domain/erasure.js';
export { GIVE_UP } from './domain/erasure.js';
export { History } from './domain/history.js';
export { Life, type NodeState } from './domain/life.js';
export { startOf } from './domain/position.js';
export {
  type PartOutcome,
  type Place,
  type PositionKeeper,
  ReplicatedState,
  type StatePart,
} from './domain/replicated-state.js';
export type { StateFolder } from './domain/state-folder.js';
export {
  type Erased,
  type EventualPart,
  type EventualParts,
  NodeErasures,
  type NodeErasuresParts,
  PART_NAMES,
  type PartName,
} from './erasures.js';
export { Follower } from './follower.js';
export { giveUpListed, ListedErasures } from './listed-erasures.js';
export { type ClusterLogWord, ClusterNode, type NodeContent, type OpenedLog } from './node.js';
export { type EventualStores, eventualParts } from './parts/eventual-parts.js';
export { RetrievalNode } from './parts/retrieval-node.js';
export { Publication } from './publication.js';
export { Reached, type ReachedOffset } from './reached.js';
export { BEGINS, SNAPSHOT } from './snapshots-there.js';
export { Submissions, type Submitted } from './submissions.js';
export { WatchedLog } from './watched-log.js';
export { Work } from './work.js';
