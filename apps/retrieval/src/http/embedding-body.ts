/** Bodies of other services' clients, field by field; fields that change nothing are let by. */

import type { EmbeddingRequest } from '@tessera/embedding';
import { expecting } from '@tessera/errors';

const invalid = expecting('REQUEST_INVALID');

type Members = Readonly<Record<string, unknown>>;

/** Of `POST /v1/embeddings`, as OpenAI's clients send it. */
export interface AskedEmbeddings extends EmbeddingRequest {
  readonly encoding: 'float' | 'base64';
}

/** Of `POST /embed`, as clients of text-embeddings-inference send it. */
export interface AskedEmbed extends EmbeddingRequest {
  readonly isNormalised: boolean;
}

function membersOf(body: unknown): Members {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Members;
  throw invalid('body', 'an object', body);
}

/** One text, or an array of texts; tokens are those of another tokenizer. */
function textsOf(body: Members, field: string): readonly string[] {
  const value = body[field];
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const wrong = texts.findIndex((text) => typeof text !== 'string');
  if (wrong < 0) return texts as readonly string[];
  const at = Array.isArray(value) ? `${field}[${wrong}]` : field;
  throw invalid(at, 'a text', texts[wrong]);
}

function modelOf({ model = '' }: Members): string {
  if (typeof model === 'string') return model;
  throw invalid('model', 'a text', model);
}

/** Its bounds are the model's. */
function dimensionsOf({ dimensions }: Members): number | undefined {
  if (dimensions === undefined || dimensions === null) return undefined;
  if (typeof dimensions === 'number') return dimensions;
  throw invalid('dimensions', 'a number', dimensions);
}

function flagOf(body: Members, field: string): boolean {
  const value = body[field] ?? true;
  if (typeof value === 'boolean') return value;
  throw invalid(field, 'true or false', value);
}

export function parseEmbeddings(body: unknown): AskedEmbeddings {
  const members = membersOf(body);
  const { encoding_format: encoding = 'float' } = members;
  if (encoding !== 'float' && encoding !== 'base64') {
    throw invalid('encoding_format', 'one of float, base64', encoding);
  }
  const texts = textsOf(members, 'input');
  return { model: modelOf(members), texts, dimensions: dimensionsOf(members), encoding };
}

export function parseEmbed(body: unknown): AskedEmbed {
  const members = membersOf(body);
  if (!flagOf(members, 'truncate')) {
    throw invalid('truncate', 'true: texts beyond the positions of the model are truncated', false);
  }
  return {
    model: modelOf(members),
    texts: textsOf(members, 'inputs'),
    dimensions: dimensionsOf(members),
    isNormalised: flagOf(members, 'normalize'),
  };
}
