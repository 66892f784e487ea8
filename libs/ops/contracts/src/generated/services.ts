// Generated from proto/ by tools/generate.mjs. Do not edit.

import type * as tessera_adapter_v1 from './tessera/adapter/v1/adapter.js';
import type * as tessera_behaviour_v1 from './tessera/behaviour/v1/behaviour.js';
import type * as tessera_catalogue_v1 from './tessera/catalogue/v1/catalogue.js';
import type * as tessera_recall_v1 from './tessera/recall/v1/recall.js';
import type * as tessera_embedding_v1 from './tessera/embedding/v1/embedding.js';
import type * as tessera_explain_v1 from './tessera/explain/v1/explain.js';
import type * as tessera_kv_v1 from './tessera/kv/v1/kv_pool.js';
import type * as tessera_relevance_v1 from './tessera/relevance/v1/relevance.js';
import type * as tessera_score_v1 from './tessera/score/v1/score.js';
import type * as tessera_weights_v1 from './tessera/weights/v1/weights.js';

/** Services by their full names; a method has its request and its answer. */
export interface WireServices {
  'tessera.adapter.v1.AdapterService': {
    Push: [tessera_adapter_v1.PushRequest, tessera_adapter_v1.PushResponse];
    List: [tessera_adapter_v1.ListRequest, tessera_adapter_v1.ListResponse];
    Get: [tessera_adapter_v1.GetRequest, tessera_adapter_v1.GetResponse];
    Activate: [tessera_adapter_v1.ActivateRequest, tessera_adapter_v1.ActivateResponse];
    Rollback: [tessera_adapter_v1.RollbackRequest, tessera_adapter_v1.RollbackResponse];
    Pin: [tessera_adapter_v1.PinRequest, tessera_adapter_v1.PinResponse];
    Unpin: [tessera_adapter_v1.UnpinRequest, tessera_adapter_v1.UnpinResponse];
    Delete: [tessera_adapter_v1.DeleteRequest, tessera_adapter_v1.DeleteResponse];
  };
  'tessera.behaviour.v1.BehaviourService': {
    Append: [tessera_behaviour_v1.AppendRequest, tessera_behaviour_v1.AppendResponse];
    History: [tessera_behaviour_v1.HistoryRequest, tessera_behaviour_v1.HistoryResponse];
    PutProfile: [tessera_behaviour_v1.PutProfileRequest, tessera_behaviour_v1.PutProfileResponse];
    Erase: [tessera_behaviour_v1.EraseRequest, tessera_behaviour_v1.EraseResponse];
  };
  'tessera.catalogue.v1.CatalogueService': {
    Apply: [tessera_catalogue_v1.ApplyRequest, tessera_catalogue_v1.ApplyResponse];
    ApplyStream: [tessera_catalogue_v1.ApplyStreamRequest, tessera_catalogue_v1.ApplyStreamResponse];
    ApplyBatch: [tessera_catalogue_v1.ApplyBatchRequest, tessera_catalogue_v1.ApplyBatchResponse];
    Quantise: [tessera_catalogue_v1.QuantiseRequest, tessera_catalogue_v1.QuantiseResponse];
    GetState: [tessera_catalogue_v1.GetStateRequest, tessera_catalogue_v1.GetStateResponse];
    ListItems: [tessera_catalogue_v1.ListItemsRequest, tessera_catalogue_v1.ListItemsResponse];
    ListVersions: [tessera_catalogue_v1.ListVersionsRequest, tessera_catalogue_v1.ListVersionsResponse];
    Compact: [tessera_catalogue_v1.CompactRequest, tessera_catalogue_v1.CompactResponse];
    RollBack: [tessera_catalogue_v1.RollBackRequest, tessera_catalogue_v1.RollBackResponse];
  };
  'tessera.recall.v1.RecallService': {
    Recall: [tessera_recall_v1.RecallRequest, tessera_recall_v1.RecallResponse];
  };
  'tessera.embedding.v1.EmbeddingService': {
    Embed: [tessera_embedding_v1.EmbedRequest, tessera_embedding_v1.EmbedResponse];
  };
  'tessera.explain.v1.ExplainService': {
    Explain: [tessera_explain_v1.ExplainRequest, tessera_explain_v1.ExplainResponse];
  };
  'tessera.kv.v1.KvPoolService': {
    Inspect: [tessera_kv_v1.InspectRequest, tessera_kv_v1.InspectResponse];
    DropUser: [tessera_kv_v1.DropUserRequest, tessera_kv_v1.DropUserResponse];
    DropVersion: [tessera_kv_v1.DropVersionRequest, tessera_kv_v1.DropVersionResponse];
    CheckIntegrity: [tessera_kv_v1.CheckIntegrityRequest, tessera_kv_v1.CheckIntegrityResponse];
    Append: [tessera_kv_v1.AppendRequest, tessera_kv_v1.AppendResponse];
  };
  'tessera.relevance.v1.RelevanceService': {
    Score: [tessera_relevance_v1.RelevanceServiceScoreRequest, tessera_relevance_v1.RelevanceServiceScoreResponse];
  };
  'tessera.score.v1.ScoreService': {
    Score: [tessera_score_v1.ScoreRequest, tessera_score_v1.ScoreResponse];
  };
  'tessera.weights.v1.WeightsService': {
    Update: [tessera_weights_v1.UpdateRequest, tessera_weights_v1.UpdateResponse];
    Rollback: [tessera_weights_v1.RollbackRequest, tessera_weights_v1.RollbackResponse];
    Get: [tessera_weights_v1.GetRequest, tessera_weights_v1.GetResponse];
  };
}
