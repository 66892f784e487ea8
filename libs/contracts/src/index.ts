export { protoSchema, protoSchemaAsWritten } from './generated/proto-schema.js';
export {
  type History as WireHistory,
  Priority as WirePriority,
  protobufPackage as recallPackage,
  type RecalledItem as WireRecalledItem,
  type RecallRequest as WireRecallRequest,
  type RecallResponse as WireRecallResponse,
  ScoreNorm as WireScoreNorm,
} from './generated/tessera/recall/v1/recall.js';
export {
  type ItemScore as WireItemScore,
  protobufPackage as scorePackage,
  ScoreOutcome as WireScoreOutcome,
  type ScoreRequest as WireScoreRequest,
  type ScoreResponse as WireScoreResponse,
  type ScoreTarget as WireScoreTarget,
} from './generated/tessera/score/v1/score.js';
