/** JSON -> domain of explanations. */

import type { ExplainRequest, RecallVersions } from '@tessera/recall';
import { inside, type Parsed } from '../recall-edge.js';
import { asInteger, asItemId, asObject, asText, refuseUnknown } from './json-fields.js';
import { parseJsonRecall } from './recall.mapper.js';

const VERSIONS = [
  ...['model', 'catalogue', 'promptTemplate', 'catalogueSequence'],
  ...['adapter', 'adapterName'],
];

function asVersions(value: unknown): { versions?: RecallVersions } {
  if (value === undefined) return {};
  const versions = asObject('versions', value);
  inside('versions', () => refuseUnknown(VERSIONS, versions));
  const { model, catalogue, promptTemplate, catalogueSequence } = versions;
  const { adapter = '', adapterName = '' } = versions;
  return {
    versions: {
      model: asText('versions.model', model),
      catalogue: asText('versions.catalogue', catalogue),
      promptTemplate: asText('versions.promptTemplate', promptTemplate),
      catalogueSequence: asInteger('versions.catalogueSequence', catalogueSequence),
      adapter: asText('versions.adapter', adapter),
      adapterName: asText('versions.adapterName', adapterName),
    },
  };
}

export function parseJsonExplain(json: unknown): Parsed<ExplainRequest> {
  const body = asObject('body', json);
  refuseUnknown(['request', 'itemId', 'versions'], body);
  const asked = asObject('request', body.request);
  const { request: recall, deadlineMs } = inside('request', () => parseJsonRecall(asked));
  const itemId = asItemId('itemId', body.itemId);
  return { request: { recall, itemId, ...asVersions(body.versions) }, deadlineMs };
}
