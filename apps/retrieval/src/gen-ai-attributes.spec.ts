import { expect, it } from 'vitest';
import { inferenceAttributes, retrievalAttributes } from './gen-ai-attributes.js';

it('a recall that names neither its catalogue nor a number says that it is a retrieval', () => {
  expect(retrievalAttributes({ resultCount: 0 })).toEqual({
    'gen_ai.operation.name': 'retrieval',
    'gen_ai.provider.name': 'tessera',
  });
  expect(retrievalAttributes({ resultCount: 7, catalogue: 'video' })).toMatchObject({
    'gen_ai.retrieval.top_k': 7,
    'gen_ai.data_source.id': 'video',
  });
});

it('tokens of all tiers were read, and the adapter is of the model that answered', () => {
  const kv = { tokensByTier: { device: 32, disk: 64 } };
  const of = (adapter: string) =>
    inferenceAttributes({ promptTokens: 101, kv, versions: { model: 'm', adapter } });
  expect(of('a')).toEqual({
    'gen_ai.operation.name': 'generate_content',
    'gen_ai.provider.name': 'tessera',
    'gen_ai.request.model': 'm',
    'gen_ai.response.model': 'm+a',
    'gen_ai.usage.input_tokens': 101,
    'gen_ai.usage.cache_read.input_tokens': 96,
  });
  expect(of('')['gen_ai.response.model']).toBe('m');
});
