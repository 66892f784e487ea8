export { protoDescriptors } from './generated/proto-descriptors.js';
export { enumWords, protoSchema } from './generated/proto-schema.js';
export type { WireServices } from './generated/services.js';
export {
  type AdapterAnnounced as WireAdapterAnnounced,
  type AdapterEvent as WireAdapterEvent,
  protobufPackage as adapterEventsPackage,
} from './generated/tessera/adapter/events/v1/adapter_event.js';
export {
  type ActivateRequest as WireActivateRequest,
  type ActivateResponse as WireActivateResponse,
  type DeleteRequest as WireDeleteRequest,
  type DeleteResponse as WireDeleteResponse,
  type GetRequest as WireGetRequest,
  type GetResponse as WireGetResponse,
  type ListRequest as WireListRequest,
  type ListResponse as WireListResponse,
  type PinRequest as WirePinRequest,
  type PinResponse as WirePinResponse,
  type PushRequest as WirePushRequest,
  type PushResponse as WirePushResponse,
  protobufPackage as adapterPackage,
  type RollbackRequest as WireRollbackRequest,
  type RollbackResponse as WireRollbackResponse,
  type Version as WireVersion,
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
  protobufPackage as behaviourPackage,
} from './generated/tessera/behaviour/v1/behaviour.js';
export {
  type CatalogueChanged as WireCatalogueChanged,
  protobufPackage as catalogueEventsPackage,
} from './generated/tessera/catalogue/events/v1/catalogue_event.js';
export {
  type ApplyBatchRequest as WireApplyBatchRequest,
  type ApplyBatchResponse as WireApplyBatchResponse,
  type ApplyRequest as WireApplyRequest,
  type ApplyResponse as WireApplyResponse,
  type ApplyStreamRequest as WireApplyStreamRequest,
  type ApplyStreamResponse as WireApplyStreamResponse,
  type Change as WireChange,
  type CompactRequest as WireCompactRequest,
  type CompactResponse as WireCompactResponse,
  type GetStateRequest as WireGetStateRequest,
  type GetStateResponse as WireGetStateResponse,
  type Item as WireItem,
  type ListItemsRequest as WireListItemsRequest,
  type ListItemsResponse as WireListItemsResponse,
  type ListVersionsRequest as WireListVersionsRequest,
  type ListVersionsResponse as WireListVersionsResponse,
  type PatchAttributes as WirePatchAttributes,
  protobufPackage as cataloguePackage,
  type QuantiseRequest as WireQuantiseRequest,
  type QuantiseResponse as WireQuantiseResponse,
  type RollBackRequest as WireRollBackRequest,
  type RollBackResponse as WireRollBackResponse,
} from './generated/tessera/catalogue/v1/catalogue.js';
export {
  type EmbedRequest as WireEmbedRequest,
  type EmbedResponse as WireEmbedResponse,
  NumberType as WireNumberType,
  protobufPackage as embeddingPackage,
} from './generated/tessera/embedding/v1/embedding.js';
export {
  type ExplainRequest as WireExplainRequest,
  type ExplainResponse as WireExplainResponse,
  protobufPackage as explainPackage,
} from './generated/tessera/explain/v1/explain.js';
export {
  type AppendRequest as WireAppendRequest,
  type AppendResponse as WireAppendResponse,
  type CheckIntegrityResponse as WireCheckIntegrityResponse,
  type DropUserRequest as WireDropUserRequest,
  type DropUserResponse as WireDropUserResponse,
  type DropVersionRequest as WireDropVersionRequest,
  type DropVersionResponse as WireDropVersionResponse,
  type InspectRequest as WireInspectRequest,
  type InspectResponse as WireInspectResponse,
  protobufPackage as kvPackage,
} from './generated/tessera/kv/v1/kv_pool.js';
export {
  type AuditedRequest as WireAuditedRequest,
  protobufPackage as recallEventsPackage,
  type RecallAnswered as WireRecallAnswered,
  type RecallAudited as WireRecallAudited,
  type RecallRefusal as WireRecallRefusal,
  type RecallRequested as WireRecallRequested,
} from './generated/tessera/recall/events/v1/recall_event.js';
export {
  type Eligibility as WireEligibility,
  type FrequencyCap as WireFrequencyCap,
  type History as WireHistory,
  type KvProvenance as WireKvProvenance,
  type Predicate as WirePredicate,
  protobufPackage as recallPackage,
  type RecalledItem as WireRecalledItem,
  type RecallRequest as WireRecallRequest,
  type RecallResponse as WireRecallResponse,
  type RecallTimings as WireRecallTimings,
  type RecallVersions as WireRecallVersions,
  type RelevanceGate as WireRelevanceGate,
} from './generated/tessera/recall/v1/recall.js';
export {
  protobufPackage as relevancePackage,
  type RelevanceServiceScoreRequest as WireRelevanceRequest,
  type RelevanceServiceScoreResponse as WireRelevanceResponse,
} from './generated/tessera/relevance/v1/relevance.js';
export {
  type ItemScore as WireItemScore,
  protobufPackage as scorePackage,
  type ScoreRequest as WireScoreRequest,
  type ScoreResponse as WireScoreResponse,
  type ScoreTarget as WireScoreTarget,
} from './generated/tessera/score/v1/score.js';
export {
  type GetRequest as WireWeightsGetRequest,
  type GetResponse as WireWeightsGetResponse,
  protobufPackage as weightsPackage,
  type RollbackRequest as WireWeightsRollbackRequest,
  type RollbackResponse as WireWeightsRollbackResponse,
  type UpdateRequest as WireWeightsUpdateRequest,
  type UpdateResponse as WireWeightsUpdateResponse,
} from './generated/tessera/weights/v1/weights.js';
export { LOAD_TRAILER } from './load-trailer.js';
export { markOf, type Position, positionOf } from './log-position.js';
export type { RelevanceProfile } from './relevance-profile.js';
export { type Submission, WAIT_FOR, type WaitFor } from './submission.js';
