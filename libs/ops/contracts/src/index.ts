export { BEHAVIOURS_PER_CALL_MAX, RECALLS_PER_CALL_MAX } from './entries-max.js';
export { protoDescriptors } from './generated/proto-descriptors.js';
export { enumWords, protoSchema } from './generated/proto-schema.js';
export type { WireServices } from './generated/services.js';
export {
  type AdapterAnnounced as WireAdapterAnnounced,
  type AdapterEvent as WireAdapterEvent,
  protobufPackage as adapterEventsPackage,
} from './generated/tessera/adapter/events/v1/adapter_event.js';
export type {
  ActivateRequest as WireActivateRequest,
  ActivateResponse as WireActivateResponse,
  DeleteRequest as WireDeleteRequest,
  DeleteResponse as WireDeleteResponse,
  GetRequest as WireGetRequest,
  GetResponse as WireGetResponse,
  ListRequest as WireListRequest,
  ListResponse as WireListResponse,
  PinRequest as WirePinRequest,
  PinResponse as WirePinResponse,
  PushRequest as WirePushRequest,
  PushResponse as WirePushResponse,
  RollbackRequest as WireRollbackRequest,
  RollbackResponse as WireRollbackResponse,
  Version as WireVersion,
} from './generated/tessera/adapter/v1/adapter.js';
export {
  type BehaviourEvent as WireBehaviourEvent,
  protobufPackage as behaviourEventsPackage,
} from './generated/tessera/behaviour/events/v1/behaviour_event.js';
export {
  AppendOutcome as WireAppendOutcome,
  type AppendRequest as WireBehaviourAppendRequest,
  type AppendResponse as WireBehaviourAppendResponse,
  type Behaviour as WireBehaviour,
  type EraseRequest as WireEraseRequest,
  type EraseResponse as WireEraseResponse,
  type HistoryRequest as WireHistoryRequest,
  type HistoryResponse as WireHistoryResponse,
  type PutProfileRequest as WirePutProfileRequest,
  type PutProfileResponse as WirePutProfileResponse,
} from './generated/tessera/behaviour/v1/behaviour.js';
export {
  type CatalogueChanged as WireCatalogueChanged,
  protobufPackage as catalogueEventsPackage,
} from './generated/tessera/catalogue/events/v1/catalogue_event.js';
export type {
  ApplyBatchRequest as WireApplyBatchRequest,
  ApplyBatchResponse as WireApplyBatchResponse,
  ApplyRequest as WireApplyRequest,
  ApplyResponse as WireApplyResponse,
  ApplyStreamRequest as WireApplyStreamRequest,
  ApplyStreamResponse as WireApplyStreamResponse,
  Change as WireChange,
  CompactRequest as WireCompactRequest,
  CompactResponse as WireCompactResponse,
  GetStateRequest as WireGetStateRequest,
  GetStateResponse as WireGetStateResponse,
  Item as WireItem,
  ListItemsRequest as WireListItemsRequest,
  ListItemsResponse as WireListItemsResponse,
  ListVersionsRequest as WireListVersionsRequest,
  ListVersionsResponse as WireListVersionsResponse,
  PatchAttributes as WirePatchAttributes,
  QuantiseRequest as WireQuantiseRequest,
  QuantiseResponse as WireQuantiseResponse,
  RollBackRequest as WireRollBackRequest,
  RollBackResponse as WireRollBackResponse,
} from './generated/tessera/catalogue/v1/catalogue.js';
export {
  type EmbedRequest as WireEmbedRequest,
  type EmbedResponse as WireEmbedResponse,
  NumberType as WireNumberType,
} from './generated/tessera/embedding/v1/embedding.js';
export type {
  ExplainRequest as WireExplainRequest,
  ExplainResponse as WireExplainResponse,
} from './generated/tessera/explain/v1/explain.js';
export type {
  AppendRequest as WireAppendRequest,
  AppendResponse as WireAppendResponse,
  CheckIntegrityResponse as WireCheckIntegrityResponse,
  DropUserRequest as WireDropUserRequest,
  DropUserResponse as WireDropUserResponse,
  DropVersionRequest as WireDropVersionRequest,
  DropVersionResponse as WireDropVersionResponse,
  InspectRequest as WireInspectRequest,
  InspectResponse as WireInspectResponse,
} from './generated/tessera/kv/v1/kv_pool.js';
export type {
  RankRequest as WireRankRequest,
  RankResponse as WireRankResponse,
} from './generated/tessera/ranking/v1/ranking.js';
export {
  type AuditedRequest as WireAuditedRequest,
  protobufPackage as recallEventsPackage,
  type RecallAnswered as WireRecallAnswered,
  type RecallAudited as WireRecallAudited,
  type RecallRefusal as WireRecallRefusal,
  type RecallRequested as WireRecallRequested,
} from './generated/tessera/recall/events/v1/recall_event.js';
export {
  type AppliedExploration as WireAppliedExploration,
  type AppliedValuation as WireAppliedValuation,
  type Eligibility as WireEligibility,
  type EstimateRequest as WireEstimateRequest,
  type EstimateResponse as WireEstimateResponse,
  type Explore as WireExplore,
  type FrequencyCap as WireFrequencyCap,
  type History as WireHistory,
  type ItemValue as WireItemValue,
  type KvProvenance as WireKvProvenance,
  type Predicate as WirePredicate,
  protobufPackage as recallPackage,
  type Rank as WireRank,
  type RecallBatchRequest as WireRecallBatchRequest,
  type RecallBatchResponse as WireRecallBatchResponse,
  type RecalledItem as WireRecalledItem,
  type RecallOutcome as WireRecallOutcome,
  type RecallRequest as WireRecallRequest,
  type RecallResponse as WireRecallResponse,
  type RecallTimings as WireRecallTimings,
  type RecallVersions as WireRecallVersions,
  type RelevanceGate as WireRelevanceGate,
  type Valuation as WireValuation,
} from './generated/tessera/recall/v1/recall.js';
export type {
  RelevanceServiceScoreRequest as WireRelevanceRequest,
  RelevanceServiceScoreResponse as WireRelevanceResponse,
} from './generated/tessera/relevance/v1/relevance.js';
export type {
  ItemScore as WireItemScore,
  ScoreRequest as WireScoreRequest,
  ScoreResponse as WireScoreResponse,
  ScoreTarget as WireScoreTarget,
} from './generated/tessera/score/v1/score.js';
export type {
  GetRequest as WireWeightsGetRequest,
  GetResponse as WireWeightsGetResponse,
  RollbackRequest as WireWeightsRollbackRequest,
  RollbackResponse as WireWeightsRollbackResponse,
  UpdateRequest as WireWeightsUpdateRequest,
  UpdateResponse as WireWeightsUpdateResponse,
} from './generated/tessera/weights/v1/weights.js';
export { LOAD_TRAILER } from './load-trailer.js';
export { markOf, type Position, positionOf } from './log-position.js';
export type { RelevanceProfile } from './relevance-profile.js';
export { type Submission, WAIT_FOR, type WaitFor } from './submission.js';
