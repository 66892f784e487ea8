/** Bodies of other services' clients, field by field; fields that change nothing are let by. */

import type { EmbeddingRequest } from '@tessera/embedding';
import { invalid } from '@tessera/grpc';
import { type Body, flagOf, objectOf, wordOf } from '../wire/body-fields.js';

/** Of `POST /v1/embeddings`, as OpenAI's clients send it. */
export interface AskedEmbeddings extends EmbeddingRequest {
  readonly encoding: 'float' | 'base64';
}

/** Of `POST /embed`, as clients of text-embeddings-inference send it. */
export interface AskedEmbed extends EmbeddingRequest {
  readonly isNormalised: boolean;
}

/** One text, or an array of texts; tokens are those of another tokenizer. */
function textsOf(body: Body, field: string): readonly string[] {
  const value = body[field];
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const wrong = texts.findIndex((text) => typeof text !== 'string');
  if (wrong < 0) return texts as readonly string[];
  const at = Array.isArray(value) ? `${field}[${wrong}]` : field;
  throw invalid(at, 'a text', texts[wrong]);
}

function modelOf({ model = '' }: Body): string {
  if (typeof model === 'string') return model;
  throw invalid('model', 'a text', model);
}

/** Its bounds are the model's. */
function dimensionsOf({ dimensions }: Body): number | undefined {
  if (dimensions === undefined || dimensions === null) return undefined;
  if (typeof dimensions === 'number') return dimensions;
  throw invalid('dimensions', 'a number', dimensions);
}

export function parseEmbeddings(body: unknown): AskedEmbeddings {
  const members = objectOf('body', body);
  const encoding = wordOf(members, 'encoding_format', ['float', 'base64']);
  const texts = textsOf(members, 'input');
  return { model: modelOf(members), texts, dimensions: dimensionsOf(members), encoding };
}

export function parseEmbed(body: unknown): AskedEmbed {
  const members = objectOf('body', body);
  if (!flagOf(members, 'truncate', true)) {
    throw invalid('truncate', 'true: texts beyond the positions of the model are truncated', false);
  }
  return {
    model: modelOf(members),
    texts: textsOf(members, 'inputs'),
    dimensions: dimensionsOf(members),
    isNormalised: flagOf(members, 'normalize', true),
  };
}
