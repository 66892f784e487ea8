/**
 * Attributes of spans by OpenTelemetry's conventions for generative AI, beside our own names: a
 * recall is a retrieval from a catalogue, the engine's passes are a model's inference. They are in
 * development: github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md.
 */

import type { EmbeddingAnswer } from '@tessera/embedding';
import type { PromptFacts, RecallRequest } from '@tessera/recall';
import type { SpanAttributes } from '@tessera/telemetry';

const operation = (name: string): SpanAttributes => ({
  'gen_ai.operation.name': name,
  'gen_ai.provider.name': 'tessera',
});

/** Span attributes of a request that was understood. */
export const retrievalAttributes = ({
  catalogue,
  resultCount,
}: Pick<RecallRequest, 'catalogue' | 'resultCount'>): SpanAttributes => ({
  ...operation('retrieval'),
  ...(catalogue !== undefined && { 'gen_ai.data_source.id': catalogue }),
  ...(resultCount > 0 && { 'gen_ai.retrieval.top_k': resultCount }),
});

interface AnsweredBy {
  readonly promptTokens: number;
  readonly kv: Pick<PromptFacts['kv'], 'tokensByTier'>;
  readonly versions: Pick<PromptFacts['versions'], 'model' | 'adapter'>;
}

export function inferenceAttributes({ promptTokens, kv, versions }: AnsweredBy): SpanAttributes {
  const { model, adapter } = versions;
  const found = Object.values(kv.tokensByTier).reduce((sum, tokens) => sum + tokens, 0);
  return {
    ...operation('generate_content'),
    'gen_ai.request.model': model,
    'gen_ai.response.model': adapter === '' ? model : `${model}+${adapter}`,
    'gen_ai.usage.input_tokens': promptTokens,
    'gen_ai.usage.cache_read.input_tokens': found,
  };
}

export const embeddingAttributes = ({
  model,
  dimensions,
  tokens,
}: Pick<EmbeddingAnswer, 'model' | 'dimensions' | 'tokens'>): SpanAttributes => ({
  ...operation('embeddings'),
  'gen_ai.request.model': model,
  'gen_ai.embeddings.dimension.count': dimensions,
  'gen_ai.usage.input_tokens': tokens,
});
