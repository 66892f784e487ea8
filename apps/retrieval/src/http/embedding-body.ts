/**
 * Bodies of other services' clients, field by field. Every field is read, cannot change a vector,
 * or is refused by its name.
 */

import type { EmbeddingRequest } from '@tessera/embedding';
import { invalid } from '@tessera/grpc';
import { numberIn, wellFormed } from '@tessera/httpjson';
import {
  type Body,
  type ForeignKeys,
  flagOf,
  membersOf,
  NO_EFFECT,
  wordOf,
} from '../wire/body-fields.js';

/** A text that can have no vector refuses the request, or fails for itself. */
export interface AskedVectors extends EmbeddingRequest {
  readonly failures: 'whole' | 'each';
}

/** Body of `POST /v1/embeddings`, as OpenAI's clients send it. */
export interface AskedEmbeddings extends AskedVectors {
  readonly encoding: 'float' | 'base64';
}

/** Body of `POST /embed`, as clients of text-embeddings-inference send it. */
export interface AskedEmbed extends AskedVectors {
  readonly isNormalised: boolean;
}

/** Members of a body that have the texts and the name of a prompt. */
interface Places {
  readonly textsAt: string;
  readonly promptAt: readonly string[];
}

export const EMBEDDINGS: Places = {
  textsAt: 'input',
  promptAt: ['prompt_name', 'input_type', 'task'],
};
export const EMBED: Places = { textsAt: 'inputs', promptAt: ['prompt_name'] };

const OUR_KEYS = ['model', 'dimensions', 'prompt_name', 'failures'];
const DIRECTIONS = ['Right', 'right'];
const CUT_RIGHT = 'none: a text that is too long loses its last tokens';
const ONLY_FLOATS = ['float'];

const EMBEDDINGS_KEYS = [...OUR_KEYS, 'input', 'encoding_format', 'input_type', 'task'];
/** Keys of OpenAI, vLLM, Jina, Voyage, Cohere and LiteLLM. */
const EMBEDDINGS_FOREIGN: ForeignKeys = {
  user: NO_EFFECT,
  metadata: NO_EFFECT,
  request_id: NO_EFFECT,
  priority: NO_EFFECT,
  safety_identifier: NO_EFFECT,
  normalized: [true],
  embedding_type: ONLY_FLOATS,
  output_dtype: ONLY_FLOATS,
  truncation: [true],
  truncate: [true, 'END'],
  late_chunking: [false],
  add_special_tokens: [true],
  truncation_direction: DIRECTIONS,
  truncate_prompt_tokens: CUT_RIGHT,
  output_dimension: 'none: dimensions says how many numbers a vector has',
};

const EMBED_KEYS = [...OUR_KEYS, 'inputs', 'normalize', 'truncate'];
/** Keys of text-embeddings-inference and huggingface_hub. */
const EMBED_FOREIGN: ForeignKeys = {
  user: NO_EFFECT,
  truncation_direction: DIRECTIONS,
  parameters: 'none: normalize, truncate and prompt_name stand beside inputs',
  prompt: 'none: prompt_name names a prompt of the model, or put it before the texts',
};

/** Clients with a tokenizer of their own send its numbers, which mean other texts here. */
const SENDS_TOKENS =
  'a text (of LangChain: OpenAIEmbeddings(check_embedding_ctx_length=False) sends texts)';

/** Texts of a body: one or an array; tokens are those of another tokenizer. */
function textsOf(body: Body, field: string): readonly string[] {
  const value = body[field];
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const wrong = texts.findIndex((text) => typeof text !== 'string');
  if (wrong < 0) {
    return (texts as readonly string[]).map((text, i) =>
      wellFormed(Array.isArray(value) ? `${field}[${i}]` : field, text),
    );
  }
  const at = Array.isArray(value) ? `${field}[${wrong}]` : field;
  const got = texts[wrong];
  const areTokens = typeof got === 'number' || (Array.isArray(got) && typeof got[0] === 'number');
  throw invalid(at, areTokens ? SENDS_TOKENS : 'a text', areTokens ? 'tokens' : got);
}

function optionalText(body: Body, key: string): string | undefined {
  const value = body[key];
  if (value === undefined) return undefined;
  if (typeof value === 'string') return wellFormed(key, value);
  throw invalid(key, 'a text', value);
}

/** Its bounds are the model's. */
function dimensionsOf(body: Body): number | undefined {
  const dimensions = numberIn(body.dimensions);
  if (dimensions === undefined || typeof dimensions === 'number') return dimensions;
  throw invalid('dimensions', 'a number', dimensions);
}

function requestOf(body: Body, { textsAt, promptAt }: Places): AskedVectors {
  const named = promptAt.flatMap((key) => optionalText(body, key) ?? []);
  return {
    model: optionalText(body, 'model') ?? '',
    texts: textsOf(body, textsAt),
    dimensions: dimensionsOf(body),
    promptName: named[0],
    failures: wordOf(body, 'failures', ['whole', 'each']),
  };
}

/** The name by which a body names its prompt; that of the service where it names none. */
export function promptKeyOf(body: unknown, { promptAt }: Places): string {
  const given = Object(body) as Body;
  return promptAt.find((key) => typeof given[key] === 'string') ?? 'prompt_name';
}

export function parseEmbeddings(body: unknown): AskedEmbeddings {
  const members = membersOf(body, EMBEDDINGS_KEYS, EMBEDDINGS_FOREIGN);
  const encoding = wordOf(members, 'encoding_format', ['float', 'base64']);
  return Object.assign(requestOf(members, EMBEDDINGS), { encoding });
}

export function parseEmbed(body: unknown): AskedEmbed {
  const members = membersOf(body, EMBED_KEYS, EMBED_FOREIGN);
  if (!flagOf(members, 'truncate', true)) {
    throw invalid('truncate', 'true: texts beyond the positions of the model are truncated', false);
  }
  const isNormalised = flagOf(members, 'normalize', true);
  return Object.assign(requestOf(members, EMBED), { isNormalised });
}
