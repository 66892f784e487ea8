/** How the messages of the served rpcs look over HTTP, where proto does not say it. */

import { protoSchema } from '@tessera/contracts';
import { HttpJson } from '@tessera/httpjson';

/** Each is a POST to its path. */
export const HTTP_RPCS = {
  '/v1/recall': 'tessera.recall.v1.RecallService.Recall',
  '/v1/score': 'tessera.score.v1.ScoreService.Score',
  '/v1/explain': 'tessera.explain.v1.ExplainService.Explain',
  '/v1/catalogue/apply': 'tessera.catalogue.v1.CatalogueService.Apply',
  '/v1/sid': 'tessera.catalogue.v1.CatalogueService.Quantise',
  '/v1/kv/inspect': 'tessera.kv.v1.KvPoolService.Inspect',
  '/v1/kv/drop-user': 'tessera.kv.v1.KvPoolService.DropUser',
  '/v1/kv/drop-version': 'tessera.kv.v1.KvPoolService.DropVersion',
  '/v1/kv/check-integrity': 'tessera.kv.v1.KvPoolService.CheckIntegrity',
  '/v1/kv/append': 'tessera.kv.v1.KvPoolService.Append',
} as const;

export const HTTP_JSON = new HttpJson(protoSchema, {
  required: new Set([
    'ScoreRequest.items',
    'RelevanceGate.query',
    'ExplainRequest.request',
    'ExplainRequest.itemId',
    'RecallVersions.model',
    'RecallVersions.catalogue',
    'RecallVersions.promptTemplate',
    'RecallVersions.catalogueSequence',
    'DiversityCap.attribute',
    'DiversityCap.maxItems',
    'FrequencyCap.action',
    'FrequencyCap.maxBehaviours',
    'FrequencyCap.windowSeconds',
    'Upsert.itemId',
    'SetAttributes.itemId',
    'SetPriority.itemId',
    'PatchTexts.attribute',
    'PatchNumber.attribute',
    'InspectRequest.userId',
    'DropUserRequest.userId',
    'DropVersionRequest.version',
  ]),
  hidden: new Set(['DropUserRequest.withRecords', 'AppendRequest.onlyHeld']),
  ids: new Set(['userId', 'itemId', 'itemIds', 'pauseItemId', 'resumeItemId', 'removeItemId']),
  positive: new Set([
    'resultCount',
    'itemsPerSid',
    'widths',
    'rowBudget',
    'deadlineMs',
    'maxItems',
    'maxBehaviours',
    'windowSeconds',
  ]),
  verbatim: new Set([
    'RecallRequest.eligibility',
    'RecalledItem.attributes',
    'Upsert.attributes',
    'SetAttributes.attributes',
    'PatchAttributes.set',
  ]),
  bare: { ScoreTarget: 'itemId' },
  prefixes: { 'tessera.kv.v1': 'Kv', 'tessera.catalogue.v1': 'Catalogue' },
});

/** Bodies that the OpenAPI document shows. */
const EXAMPLES: Readonly<Record<string, object>> = {
  RecallRequest: { userId: '1', resultCount: 5 },
  ScoreRequest: { userId: '1', items: ['2', { sid: [0, 1, 2] }] },
  ExplainRequest: { request: { userId: '1', resultCount: 5 }, itemId: '2' },
};

/** Schemas and operations of the OpenAPI document. */
export function openApiOfRpcs(
  json: (schema: string) => object,
  failures: object,
): { readonly schemas: Readonly<Record<string, object>>; readonly paths: object } {
  const { schemas, rpcs } = HTTP_JSON.schemas(Object.values(HTTP_RPCS));
  const paths = Object.keys(HTTP_RPCS).map((path, index) => {
    const { request = '', response = '', summary = '' } = rpcs[index] ?? {};
    const post = {
      operationId: path.slice('/v1/'.length).replaceAll('/', '-'),
      summary,
      requestBody: { required: true, content: json(request) },
      responses: { 200: { description: summary, content: json(response) }, ...failures },
    };
    return [path, { post }];
  });
  const shown = Object.entries(schemas).map(([name, schema]) => {
    const example = EXAMPLES[name];
    return [name, example === undefined ? schema : { ...schema, example }];
  });
  return { schemas: Object.fromEntries(shown), paths: Object.fromEntries(paths) };
}
