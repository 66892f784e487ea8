import type { AddedToken } from './added-tokens.js';
import { JsonField } from './json-field.js';

/** Token ids are below this: a corrupt id must not make anybody allocate by it. */
const VOCABULARY_SIZE_MAX = 1 << 23;
const TOKEN_LENGTH_MAX = 4096;
const MERGES_MAX = 1 << 23;
/** Maximum parts of a sequence of normalisers or pre-tokenizers. */
const PARTS_MAX = 256;
const MODEL_TYPES = ['BPE', 'WordLevel'];
/** Parts that the tokenizer library computes as the tokenizer of the model does. */
const NORMALISERS = [
  ...['NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase', 'StripAccents', 'Strip', 'Prepend', 'Replace'],
  'Sequence',
];
const PRE_TOKENIZERS = [
  ...['ByteLevel', 'Split', 'Digits', 'Metaspace', 'Punctuation', 'Whitespace', 'WhitespaceSplit'],
  'Sequence',
];

/** Contents of a tokenizer folder, parsed; undefined where the file is absent. */
export interface TokenizerFiles {
  /** tokenizer.json */
  readonly tokenizer?: unknown;
  /** vocab.json */
  readonly vocabulary?: unknown;
  /** merges.txt */
  readonly merges?: string;
  /** tokenizer_config.json */
  readonly config?: unknown;
  /** added_tokens.json */
  readonly addedTokens?: unknown;
  /** special_tokens_map.json */
  readonly specialTokens?: unknown;
}

/** A checked document in the structure of tokenizer.json. */
export interface TokenizerDocuments {
  readonly tokenizer: object;
  readonly addedTokens: readonly AddedToken[];
  /** Highest token id plus one. */
  readonly vocabSize: number;
  /** The file to blame for what the library refuses. */
  readonly fileName: string;
}

/**
 * One tokenizer document from whichever files a model folder has: tokenizer.json, or vocab.json and
 * merges.txt as Qwen2 and GPT-2 have them. Added tokens of the other files join those of
 * tokenizer.json, as the transformers library does.
 * @throws TesseraError TOKENIZER_INVALID naming file and field
 */
export function tokenizerDocuments(files: TokenizerFiles): TokenizerDocuments {
  const fileName = files.tokenizer === undefined ? 'vocab.json' : 'tokenizer.json';
  const base =
    files.tokenizer === undefined ? fromVocabulary(files) : checkedTokenizer(files.tokenizer);
  const added = new AddedTokens(base.vocabulary);
  for (const token of base.added) added.add(token.id, token.value);
  addFromConfig(files, added);
  addFromAddedTokens(files, added);
  return {
    tokenizer: { ...base.document, added_tokens: added.tokens },
    addedTokens: added.tokens,
    vocabSize: Math.max(highestOf(base.vocabulary.values()), added.highestId) + 1,
    fileName,
  };
}

interface BaseDocument {
  readonly document: object;
  /** Ids of model.vocab by text. */
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly added: readonly { readonly id: JsonField; readonly value: AddedToken }[];
}

function checkedTokenizer(document: unknown): BaseDocument {
  const root = field('tokenizer.json', document);
  const model = root.key('model');
  const type = model.key('type');
  // Old files leave the type out; merges tell that it is BPE.
  const isBpe = type.absent ? !model.key('merges').absent : type.value === 'BPE';
  if (!type.absent && !MODEL_TYPES.includes(type.value as string)) {
    type.fail(`one of ${MODEL_TYPES.join(', ')}`);
  }
  if (type.absent && !isBpe) type.fail(`one of ${MODEL_TYPES.join(', ')}`);
  const vocabulary = checkedVocabulary(model.key('vocab'));
  if (isBpe) checkMerges(model.key('merges'));
  checkUnknownToken(model);
  checkPart(root.key('normalizer'), NORMALISERS, 'normalizers');
  checkPart(root.key('pre_tokenizer'), PRE_TOKENIZERS, 'pretokenizers');
  for (const name of ['dropout', 'continuing_subword_prefix']) {
    const setting = model.key(name);
    if (setting.value) setting.fail('none');
  }
  const added = root.key('added_tokens');
  const tokens = added.absent ? [] : added.array(0, VOCABULARY_SIZE_MAX);
  return {
    document: {
      ...root.object(),
      normalizer: root.key('normalizer').value ?? null,
      pre_tokenizer: withoutDigits(root.key('pre_tokenizer').value ?? null),
      // Neither is used: prompts are never decoded, and nothing is added around them.
      post_processor: null,
      decoder: null,
      model: { ...model.object(), type: isBpe ? 'BPE' : type.value },
    },
    vocabulary,
    added: tokens.map((token) => {
      const id = token.key('id');
      return { id, value: addedToken(token, id) };
    }),
  };
}

/** A part is absent, or of a type that is known, as are all parts that it is a sequence of. */
function checkPart(part: JsonField, known: readonly string[], nested: string): void {
  if (part.absent || part.value === null) return;
  const type = part.key('type');
  if (!known.includes(type.value as string)) type.fail(`one of ${known.join(', ')}`);
  if (type.value !== 'Sequence') return;
  for (const child of part.key(nested).array(0, PARTS_MAX)) checkPart(child, known, nested);
}

/**
 * A pre-tokenizer with its `Digits` written as `Split`: the library's are 0 to 9, those of the
 * model's tokenizer all numbers of Unicode.
 */
function withoutDigits(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  const settings = part as Record<string, unknown>;
  if (Array.isArray(settings.pretokenizers)) {
    return Object.assign({}, part, { pretokenizers: settings.pretokenizers.map(withoutDigits) });
  }
  if (settings.type !== 'Digits') return part;
  const Regex = settings.individual_digits === true ? '\\p{N}' : '\\p{N}+';
  return { type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false };
}

function checkedVocabulary(vocabulary: JsonField): Map<string, number> {
  const entries = Object.entries(vocabulary.object()) as [string, number][];
  const taken = new Set<number>();
  for (const [text, id] of entries) {
    if (!Number.isInteger(id) || id < 0 || id >= VOCABULARY_SIZE_MAX) {
      vocabulary.key(text).integer(0, VOCABULARY_SIZE_MAX - 1);
    }
    if (taken.has(id)) vocabulary.key(text).fail('an id that no other token has');
    if (text.length > TOKEN_LENGTH_MAX) {
      vocabulary.fail(`tokens of at most ${TOKEN_LENGTH_MAX} characters`);
    }
    taken.add(id);
  }
  if (taken.size === 0) vocabulary.fail('at least one token');
  return new Map(entries);
}

function highestOf(ids: Iterable<number>): number {
  let highest = -1;
  for (const id of ids) highest = Math.max(highest, id);
  return highest;
}

function checkMerges(merges: JsonField): void {
  if (!Array.isArray(merges.value)) merges.fail('an array');
  const list = merges.value as unknown[];
  if (list.length > MERGES_MAX) merges.fail(`at most ${MERGES_MAX} merges`);
  const pairs = Array.isArray(list[0]);
  const bad = list.findIndex((merge) => !isMerge(merge, pairs));
  if (bad < 0) return;
  const form = pairs ? 'a pair of texts, as the first merge is' : 'two texts with a space between';
  merges.array(0, MERGES_MAX)[bad]?.fail(form);
}

function isMerge(merge: unknown, pairs: boolean): boolean {
  if (!pairs) return typeof merge === 'string' && /^\S+ \S+$/.test(merge);
  return (
    Array.isArray(merge) && merge.length === 2 && merge.every((part) => typeof part === 'string')
  );
}

function checkUnknownToken(model: JsonField): void {
  const unknown = model.key('unk_token');
  if (unknown.absent || unknown.value === null) return;
  const text = unknown.text(TOKEN_LENGTH_MAX);
  if (model.key('vocab').key(text).absent) unknown.fail('a token of model.vocab');
}

/** Settings that the class of a tokenizer without tokenizer.json stands for. */
const LEGACY_CLASSES: Readonly<Record<string, object>> = {
  Qwen2Tokenizer: {
    normalizer: { type: 'NFC' },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        {
          type: 'Split',
          pattern: {
            Regex:
              "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|" +
              ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+',
          },
          behavior: 'Isolated',
          invert: false,
        },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
  },
  GPT2Tokenizer: {
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
  },
};

function fromVocabulary(files: TokenizerFiles): BaseDocument {
  const vocabulary = checkedVocabulary(field('vocab.json', files.vocabulary));
  const merges = mergeLines(files.merges);
  const name = field('tokenizer_config.json', files.config ?? {}).key('tokenizer_class');
  const className = name.absent ? '' : name.text(TOKEN_LENGTH_MAX).replace(/Fast$/, '');
  if (!Object.hasOwn(LEGACY_CLASSES, className)) {
    name.fail(`one of ${Object.keys(LEGACY_CLASSES).join(', ')} (or a tokenizer.json)`);
  }
  return {
    document: {
      version: '1.0',
      ...LEGACY_CLASSES[className],
      post_processor: null,
      decoder: null,
      model: { type: 'BPE', unk_token: null, vocab: files.vocabulary, merges },
    },
    vocabulary,
    added: [],
  };
}

function mergeLines(text: string | undefined): string[] {
  if (text === undefined) return field('merges.txt', undefined).fail('the file beside vocab.json');
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const first = lines[0]?.startsWith('#version') ? 1 : 0;
  const merges: string[] = [];
  lines.forEach((line, index) => {
    if (index < first || line === '') return;
    if (!isMerge(line, false)) {
      field('merges.txt', line, `line ${index + 1}`).fail('two texts with a space between');
    }
    merges.push(line);
  });
  return merges;
}

/**
 * Added tokens, each under the id that the model's tokenizer gives it. That one (Rust `tokenizers`
 * 0.23, `AddedVocabulary::add_tokens`) never reads the ids of the file: a text of the vocabulary
 * keeps the id that it has there, any other gets the next free one, in order. A file whose ids are
 * others stands for a model that was trained on other tokens than those written, and is refused.
 */
class AddedTokens {
  readonly tokens: AddedToken[] = [];
  highestId = -1;
  private readonly byContent = new Map<string, AddedToken>();

  constructor(private readonly vocabulary: ReadonlyMap<string, number>) {}

  add(at: JsonField, token: AddedToken): void {
    const known = this.byContent.get(token.content);
    if (known !== undefined) {
      if (known.id !== token.id) at.fail(`${known.id}, the id that its text has already`);
      return;
    }
    const inVocabulary = this.vocabulary.get(token.content);
    const id = inVocabulary ?? Math.max(this.vocabulary.size, this.highestId + 1);
    if (id !== token.id) {
      const reason = inVocabulary === undefined ? 'the next free id' : 'its id in the vocabulary';
      at.fail(`${id}, ${reason}, which the tokenizers package gives it`);
    }
    this.highestId = Math.max(this.highestId, id);
    this.byContent.set(token.content, token);
    this.tokens.push(token);
  }
}

function addFromConfig(files: TokenizerFiles, added: AddedTokens): void {
  const decoder = field('tokenizer_config.json', files.config ?? {}).key('added_tokens_decoder');
  if (decoder.absent) return;
  for (const [name, token] of decoder.entries()) {
    const id = field('tokenizer_config.json', Number(name), `added_tokens_decoder key '${name}'`);
    added.add(id, addedToken(token, id));
  }
}

function addFromAddedTokens(files: TokenizerFiles, added: AddedTokens): void {
  if (files.addedTokens === undefined) return;
  const special = new Set(specialTexts(files.specialTokens));
  const entries = field('added_tokens.json', files.addedTokens).entries();
  // By id, as transformers adds them: other trainers than ours write the file in any order.
  entries.sort(([, a], [, b]) => Number(a.value) - Number(b.value));
  for (const [content, id] of entries) {
    const flags = { content, special: special.has(content) };
    added.add(id, addedToken(field('added_tokens.json', flags, id.path), id));
  }
}

function specialTexts(document: unknown): string[] {
  if (document === undefined) return [];
  const root = field('special_tokens_map.json', document);
  return Object.values(root.object())
    .flat()
    .map((value) => (typeof value === 'string' ? value : (value as { content?: unknown })?.content))
    .filter((value) => typeof value === 'string');
}

function addedToken(token: JsonField, id: JsonField): AddedToken {
  const content = token.key('content').text(TOKEN_LENGTH_MAX);
  if (content === '') token.key('content').fail('a text that is not empty');
  const flag = (name: string, absent: boolean): boolean => {
    const value = token.key(name);
    if (value.absent) return absent;
    return typeof value.value === 'boolean' ? value.value : value.fail('true or false');
  };
  const special = flag('special', false);
  return {
    id: id.integer(0, VOCABULARY_SIZE_MAX - 1),
    content,
    special,
    single_word: flag('single_word', false),
    lstrip: flag('lstrip', false),
    rstrip: flag('rstrip', false),
    normalized: flag('normalized', !special),
  };
}

function field(file: string, value: unknown, path = ''): JsonField {
  return new JsonField('TOKENIZER_INVALID', file, path, value);
}
