/**
 * The one table of who may do what: every gRPC method and every HTTP route, with the scope that it
 * needs. test/contract/access-table.spec.ts compares it with the protos and with the routes of a
 * running service; what has no entry is refused.
 */

import type { Role } from './domain/roles.js';
import type { Scope } from './domain/scopes.js';

/** `open`: nothing is needed, on purpose. A role: somebody who is logged in to the console. */
export type Need = 'open' | { readonly scope: Scope } | { readonly role: Role };

export interface AccessRule {
  readonly need: Need;
  /** Its name in audits; left out: it changes nothing. */
  readonly action?: string;
}

const open: AccessRule = { need: 'open' };
const asks = (scope: Scope, action?: string): AccessRule => ({
  need: { scope },
  ...(action !== undefined && { action }),
});
const page = (role: Role, action?: string): AccessRule => ({
  need: { role },
  ...(action !== undefined && { action }),
});

/** By path of the method, as on the wire. */
export const GRPC_ACCESS: Readonly<Record<string, AccessRule>> = {
  '/tessera.recall.v1.RecallService/Recall': asks('recall'),
  '/tessera.score.v1.ScoreService/Score': asks('recall'),
  '/tessera.explain.v1.ExplainService/Explain': asks('recall'),
  '/tessera.relevance.v1.RelevanceService/Score': asks('recall'),
  '/tessera.embedding.v1.EmbeddingService/Embed': asks('embed'),
  '/tessera.behaviour.v1.BehaviourService/Append': asks('behaviour:write', 'append-behaviours'),
  '/tessera.behaviour.v1.BehaviourService/PutProfile': asks('behaviour:write', 'put-profile'),
  '/tessera.behaviour.v1.BehaviourService/History': asks('behaviour:read'),
  '/tessera.behaviour.v1.BehaviourService/Erase': asks('behaviour:erase', 'erase-user'),
  '/tessera.catalogue.v1.CatalogueService/Apply': asks('catalogue:write', 'apply-changes'),
  '/tessera.catalogue.v1.CatalogueService/ApplyStream': asks('catalogue:write', 'apply-changes'),
  '/tessera.catalogue.v1.CatalogueService/ApplyBatch': asks('catalogue:write', 'apply-changes'),
  '/tessera.catalogue.v1.CatalogueService/Compact': asks('catalogue:write', 'compact-catalogue'),
  '/tessera.catalogue.v1.CatalogueService/RollBack': asks('catalogue:write', 'roll-back-catalogue'),
  '/tessera.catalogue.v1.CatalogueService/Quantise': asks('catalogue:read'),
  '/tessera.catalogue.v1.CatalogueService/GetState': asks('catalogue:read'),
  '/tessera.catalogue.v1.CatalogueService/ListItems': asks('catalogue:read'),
  '/tessera.catalogue.v1.CatalogueService/ListVersions': asks('catalogue:read'),
  '/tessera.kv.v1.KvPoolService/Inspect': asks('kv'),
  '/tessera.kv.v1.KvPoolService/DropUser': asks('kv', 'drop-user'),
  '/tessera.kv.v1.KvPoolService/DropVersion': asks('kv', 'drop-version'),
  '/tessera.kv.v1.KvPoolService/CheckIntegrity': asks('kv'),
  '/tessera.kv.v1.KvPoolService/Append': asks('kv'),
  '/tessera.adapter.v1.AdapterService/Push': asks('push', 'push'),
  '/tessera.adapter.v1.AdapterService/List': asks('adapter:read'),
  '/tessera.adapter.v1.AdapterService/Get': asks('adapter:read'),
  '/tessera.adapter.v1.AdapterService/Activate': asks('activate', 'activate'),
  '/tessera.adapter.v1.AdapterService/Rollback': asks('activate', 'rollback'),
  '/tessera.adapter.v1.AdapterService/Pin': asks('activate', 'pin'),
  '/tessera.adapter.v1.AdapterService/Unpin': asks('activate', 'unpin'),
  '/tessera.adapter.v1.AdapterService/Delete': asks('activate', 'delete'),
  '/tessera.weights.v1.WeightsService/Update': asks('weights:write', 'update-weights'),
  '/tessera.weights.v1.WeightsService/Rollback': asks('weights:write', 'update-weights'),
  '/tessera.weights.v1.WeightsService/Get': asks('weights:read'),
  '/grpc.health.v1.Health/Check': open,
  '/grpc.health.v1.Health/List': open,
  '/grpc.health.v1.Health/Watch': open,
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo': asks('reflection'),
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo': asks('reflection'),
};

/** By method and route; HEAD is asked for as GET is. */
export const HTTP_ACCESS: Readonly<Record<string, AccessRule>> = {
  'POST /v1/recall': asks('recall'),
  'POST /v1/score': asks('recall'),
  'POST /v1/explain': asks('recall'),
  'POST /rerank': asks('recall'),
  'POST /v1/rerank': asks('recall'),
  'POST /v2/rerank': asks('recall'),
  'POST /v1/embeddings': asks('embed'),
  'POST /embed': asks('embed'),
  'POST /': asks('embed'),
  'GET /v1/models': asks('embed'),
  'GET /info': asks('embed'),
  'POST /v1/catalogue/apply': asks('catalogue:write', 'apply-changes'),
  'POST /v1/sid': asks('catalogue:read'),
  'POST /v1/kv/inspect': asks('kv'),
  'POST /v1/kv/drop-user': asks('kv', 'drop-user'),
  'POST /v1/kv/drop-version': asks('kv', 'drop-version'),
  'POST /v1/kv/check-integrity': asks('kv'),
  'POST /v1/kv/append': asks('kv'),
  'GET /v1/cluster': asks('metrics'),
  'GET /v1/cluster/partitions': asks('metrics'),
  'POST /v1/cluster/route': asks('metrics'),
  'GET /health': open,
  'GET /health/ready': open,
  'GET /health/live': open,
  'GET /metrics': asks('metrics'),
  // A description of the API without any data: browsers open pages without a token.
  'GET /docs': open,
  'GET /docs/*': open,
  'GET /docs/swagger-initializer.js': open,
  'GET /docs-json': open,
  // The pages ask the routes below for everything that they show.
  'GET /console': open,
  'GET /console/*': open,
  'GET /console/api/login': open,
  'POST /console/api/login': open,
  'DELETE /console/api/login': open,
  'POST /console/api/login/oidc': open,
  'GET /console/api/login/oidc/return': open,
  'GET /console/api/about': page('read'),
  'GET /console/api/cluster': page('read'),
  'GET /console/api/live': page('read'),
  'GET /console/api/recalls': page('read'),
  'POST /console/api/recalls': page('read'),
  'GET /console/api/recalls/:id': page('read'),
  'POST /console/api/recalls/:id/explain': page('read'),
  'POST /console/api/recalls/:id/notes': page('read', 'add-note'),
  'DELETE /console/api/recalls/:id/notes/:note': page('read', 'remove-note'),
  'GET /console/api/users': page('read'),
  'GET /console/api/users/:id': page('read'),
  'DELETE /console/api/users/:id': page('operate', 'erase-user'),
  'GET /console/api/items': page('read'),
  'GET /console/api/catalogue': page('read'),
  'GET /console/api/catalogue/changes': page('read'),
  'POST /console/api/catalogue/landing': page('read'),
  'POST /console/api/relevance': page('read'),
  'POST /console/api/catalogue/roll-back': page('admin', 'roll-back-catalogue'),
  'POST /console/api/catalogue/imports': page('admin', 'import-changes'),
  'POST /console/api/catalogue/imports/:id/lines': page('admin', 'import-changes'),
  'POST /console/api/catalogue/imports/:id/apply': page('admin', 'import-changes'),
  'DELETE /console/api/catalogue/imports/:id': page('admin', 'import-changes'),
  'GET /console/api/adapters': page('read'),
  'GET /console/api/adapters/changes': page('read'),
  'POST /console/api/adapters/:name/:digest/activate': page('admin', 'activate'),
  'POST /console/api/adapters/:name/roll-back': page('admin', 'rollback'),
  'POST /console/api/adapters/:name/:digest/pin': page('admin', 'pin'),
  'DELETE /console/api/adapters/:name/:digest/pin': page('admin', 'unpin'),
  'DELETE /console/api/adapters/:name/:digest': page('admin', 'delete'),
  'POST /console/api/comparisons': page('read'),
  'GET /console/api/comparisons': page('read'),
  'GET /console/api/comparisons/:id': page('read'),
  'DELETE /console/api/comparisons/:id': page('read', 'remove-comparison'),
  'POST /console/api/comparisons/:id/notes': page('read', 'add-note'),
  'DELETE /console/api/comparisons/:id/notes/:note': page('read', 'remove-note'),
  'POST /console/api/sql': page('read'),
  'GET /console/api/export': page('read'),
  'GET /console/api/sets': page('read'),
  'POST /console/api/sets': page('read', 'save-set'),
  'DELETE /console/api/sets/:name': page('read', 'remove-set'),
};
