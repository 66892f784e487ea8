/** Asks a Tessera service over gRPC. Messages are named as in proto, fields in camel case. */

export { type CallOptions, Client, type ClientOptions, type RecallOptions } from './client.js';
export type { Tls } from './connection.js';
export { TesseraError } from './errors.js';
export type * from './generated/tessera/behaviour/v1/behaviour.js';
export type {
  ApplyRequest,
  ApplyResponse,
  Change,
} from './generated/tessera/catalogue/v1/catalogue.js';
export type { EmbedRequest } from './generated/tessera/embedding/v1/embedding.js';
export type { RankRequest, RankResponse } from './generated/tessera/ranking/v1/ranking.js';
export type {
  Eligibility,
  Predicate,
  RecalledItem,
  RecallRequest,
  RecallResponse,
  RecallVersions,
} from './generated/tessera/recall/v1/recall.js';
export type {
  RelevanceServiceScoreRequest,
  RelevanceServiceScoreResponse,
} from './generated/tessera/relevance/v1/relevance.js';
export type { ScoreRequest, ScoreResponse } from './generated/tessera/score/v1/score.js';
export type { Asked } from './stubs.js';
