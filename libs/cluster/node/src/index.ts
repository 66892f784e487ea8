export { REFUSE } from './body-reader.js';
export type { Erasure } from './domain/erasure.js';
export { GIVE_UP } from './domain/erasure.js';
export { History } from './domain/history.js';
export { Life, type NodeState } from './domain/life.js';
export { fileName, type Manifest } from './domain/manifest.js';
export { startOf } from './domain/position.js';
export {
  type PartOutcome,
  type Place,
  type PositionKeeper,
  ReplicatedState,
  type StatePart,
} from './domain/replicated-state.js';
export type { NoteName, Placing, StateFiles } from './domain/state-files.js';
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
export {
  type ClusterLogWord,
  ClusterNode,
  type NodeContent,
  type OpenedLog,
  type WholeContent,
} from './node.js';
export { BeginningPart } from './parts/beginning-part.js';
export { type EventualStores, eventualParts } from './parts/eventual-parts.js';
export { RetrievalNode } from './parts/retrieval-node.js';
export { Publication } from './publication.js';
export { Reached, type ReachedPoint } from './reached.js';
export { Snapshots } from './snapshots.js';
export { BEGINS, SNAPSHOT } from './snapshots-there.js';
export { Submissions, type Submitted } from './submissions.js';
export { WatchedLog } from './watched-log.js';
export { Work } from './work.js';
