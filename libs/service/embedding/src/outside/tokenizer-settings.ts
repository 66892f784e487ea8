import { dirname, join } from 'node:path';
import { expecting } from '@tessera/errors';
import { type Members, membersOf } from './folder-json.js';

const invalid = expecting('TOKENIZER_INVALID');

/** tokenizer.json says it, and says it last; or it is of no concern to the tokens of a text. */
const HARMLESS = new Set([
  ...['tokenizer_class', 'model_max_length', 'model_input_names', 'name_or_path', 'tokenizer_file'],
  ...['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'],
  ...['additional_special_tokens', 'extra_special_tokens', 'special_tokens_map_file', 'errors'],
  ...['chat_template', 'clean_up_tokenization_spaces', 'spaces_between_special_tokens', 'backend'],
  ...['padding_side', 'pad_to_multiple_of', 'pad_token_type_id', 'max_length', 'stride', 'padding'],
  ...['truncation_strategy', 'truncation', 'processor_class', 'auto_map', 'is_local', 'vocab_size'],
  ...['local_files_only', 'use_default_system_prompt', 'trim_offsets', 'never_split', 'vocab_file'],
  ...[
    'do_basic_tokenize',
    'legacy',
    'sp_model_kwargs',
    'wordpieces_prefix',
    'clean_text',
    'device',
  ],
  ...[
    'use_fast',
    'add_special_tokens',
    'merges_file',
    'tokenizer_type',
    'from_slow',
    '_commit_hash',
  ],
]);
/** Read below. */
const READ = new Set([
  ...['do_lower_case', 'strip_accents', 'tokenize_chinese_chars', 'add_prefix_space'],
  ...['add_bos_token', 'add_eos_token', 'truncation_side', 'split_special_tokens'],
  'added_tokens_decoder',
]);

export interface TokenizerSettings {
  /** Segments of a pair are those of its tokenizer; otherwise it has one. */
  readonly hasSegments: boolean;
  /** Differences to other libraries, for people. */
  readonly notes: readonly string[];
}

/**
 * Compares tokenizer_config.json with tokenizer.json, whose tokens are used. Where libraries would
 * follow the first the folder is refused; where only older ones would, or something is not known,
 * a note says so.
 * @param path of tokenizer_config.json
 * @param document content of tokenizer.json
 * @param config of the model
 * @throws TesseraError TOKENIZER_INVALID naming file and field
 */
export function checkTokenizerSettings(
  path: string,
  settings: Members,
  document: Members,
  config: Members,
): TokenizerSettings {
  const { tokenizer_class: named, model_input_names: inputs } = settings;
  const own = named ?? config.tokenizer_class ?? CLASSES[String(config.model_type)] ?? '';
  const name = String(own).replace(/Fast$/, '');
  const form = FORMS[name];
  if (form !== undefined) checkForm(path, name, form, document);
  if (form === BERT) checkBert(path, settings, document);
  checkPrefixSpace(path, settings, document);
  checkAddedTokens(path, settings, document);
  checkTruncation(path, settings, document);
  if (settings.split_special_tokens === true) {
    throw invalid(`${path}: split_special_tokens`, 'false', true);
  }
  const notes = endNotes(path, settings, document);
  if (form === undefined && !PLAIN.includes(name)) {
    notes.push(`${path}: tokenizer_class ${name} is not known: tokens are those of tokenizer.json`);
  }
  if (name === 'PreTrainedTokenizer' && !Array.isArray(inputs) && hasTypedPairs(document)) {
    const rule = 'as transformers 4 trained them; 5 gives one unless model_input_names says so';
    notes.push(`${path}: pairs have two token types, ${rule}`);
  }
  const others = Object.keys(settings).filter((key) => !HARMLESS.has(key) && !READ.has(key));
  if (others.length > 0) notes.push(`${path}: fields that are not read: ${others.join(', ')}`);
  const hasSegments = Array.isArray(inputs)
    ? inputs.includes('token_type_ids')
    : name !== 'TokenizersBackend';
  return { hasSegments, notes };
}

/** Parts of a tokenizer.json that stand for the same as a class's own. */
interface ClassForm {
  readonly model: string;
  readonly normalisers: readonly string[];
  readonly preTokenizers: readonly string[];
}

const BERT: ClassForm = {
  model: 'WordPiece',
  normalisers: ['BertNormalizer'],
  preTokenizers: ['BertPreTokenizer'],
};
const BYTES: ClassForm = { model: 'BPE', normalisers: [], preTokenizers: ['ByteLevel'] };
/** Classes of transformers 5 that make their tokenizer of the vocabulary, and little else. */
const FORMS: Readonly<Record<string, ClassForm>> = {
  BertTokenizer: BERT,
  DistilBertTokenizer: BERT,
  ElectraTokenizer: BERT,
  RobertaTokenizer: BYTES,
  GPT2Tokenizer: BYTES,
  Qwen2Tokenizer: { model: 'BPE', normalisers: ['NFC'], preTokenizers: ['Split', 'ByteLevel'] },
  LlamaTokenizer: {
    model: 'BPE',
    normalisers: ['Prepend', 'Replace'],
    preTokenizers: ['Metaspace', 'Split', 'Digits', 'ByteLevel'],
  },
  XLMRobertaTokenizer: {
    model: 'Unigram',
    normalisers: ['Precompiled', 'Strip', 'Replace'],
    preTokenizers: ['WhitespaceSplit', 'Metaspace'],
  },
};
/** Classes that take tokenizer.json as it is. */
const PLAIN = ['PreTrainedTokenizer', 'TokenizersBackend', ''];
/** Tokenizer class by model type, where neither tokenizer_config.json nor config.json names one. */
const CLASSES: Readonly<Record<string, string>> = {
  bert: 'BertTokenizer',
  roberta: 'RobertaTokenizer',
  'xlm-roberta': 'XLMRobertaTokenizer',
  qwen2: 'Qwen2Tokenizer',
  qwen3: 'Qwen2Tokenizer',
};

function checkForm(path: string, name: string, form: ClassForm, document: Members): void {
  const typesOf = (part: unknown) =>
    part === null || part === undefined ? [] : partsOf(part).map(({ type }) => String(type));
  const model = Object(document.model) as Members;
  const isOf =
    (model.type ?? form.model) === form.model &&
    typesOf(document.normalizer).every((type) => form.normalisers.includes(type)) &&
    typesOf(document.pre_tokenizer).every((type) => form.preTokenizers.includes(type));
  if (isOf) return;
  const expected = 'a class that takes the parts of tokenizer.json (PreTrainedTokenizerFast)';
  throw invalid(`${path}: tokenizer_class`, expected, `${name}, which has its own`);
}

function checkBert(path: string, settings: Members, document: Members): void {
  const own = Object(document.normalizer) as Members;
  const { do_lower_case: lower = true, tokenize_chinese_chars: chinese = true } = settings;
  const pairs = [
    ['do_lower_case', lower, own.lowercase ?? true],
    ['tokenize_chinese_chars', chinese, own.handle_chinese_chars ?? true],
    ['strip_accents', settings.strip_accents ?? null, own.strip_accents ?? null],
  ] as const;
  for (const [field, asked, done] of pairs) {
    if (asked === done) continue;
    throw invalid(`${path}: ${field}`, `${done}, as tokenizer.json has it`, asked);
  }
}

/** The side of tokenizer.json counts where the settings name none, as in transformers. */
function checkTruncation(path: string, settings: Members, document: Members): void {
  const { direction } = Object(document.truncation) as Members;
  const places = [
    [`${path}: truncation_side`, settings.truncation_side],
    [`${join(dirname(path), 'tokenizer.json')}: truncation.direction`, direction],
  ] as const;
  const [place, side] = places.find(([, value]) => (value ?? undefined) !== undefined) ?? [];
  if (place === undefined || String(side).toLowerCase() === 'right') return;
  throw invalid(place, 'right', side);
}

/** The parts of a tokenizer.json, those of sequences by themselves. */
function partsOf(part: unknown): readonly Members[] {
  const members = Object(part) as Members;
  const nested = members.normalizers ?? members.pretokenizers ?? members.processors;
  return Array.isArray(nested) ? nested.flatMap(partsOf) : [members];
}

function checkPrefixSpace(path: string, settings: Members, document: Members): void {
  const { add_prefix_space: asked } = settings;
  if (typeof asked !== 'boolean') return;
  for (const part of partsOf(document.pre_tokenizer)) {
    const { type, add_prefix_space: adds, prepend_scheme: scheme } = part;
    const isDone: unknown =
      type === 'ByteLevel' ? adds : type === 'Metaspace' ? scheme !== 'never' : asked;
    if (isDone === asked) continue;
    throw invalid(`${path}: add_prefix_space`, `${isDone}, as tokenizer.json has it`, asked);
  }
}

function checkAddedTokens(path: string, settings: Members, document: Members): void {
  const { added_tokens_decoder: listed = {} } = settings;
  const added = Array.isArray(document.added_tokens) ? document.added_tokens : [];
  const known = new Map(added.map((token: Members) => [token.content, token]));
  for (const [id, token] of Object.entries(membersOf(listed, `${path}: added_tokens_decoder`))) {
    const { content } = Object(token) as Members;
    const place = `${path}: added_tokens_decoder.${id}`;
    const own = known.get(content);
    if (own === undefined) throw invalid(place, 'an added token of tokenizer.json', content);
    if (own.id !== Number(id)) throw invalid(place, `the id of tokenizer.json, ${own.id}`, id);
  }
}

/** True if a tokenizer.json puts a token before, and behind, a text. */
function endsOf(document: Members): { readonly bos: boolean; readonly eos: boolean } {
  for (const { type, single } of partsOf(document.post_processor)) {
    if (type === 'BertProcessing' || type === 'RobertaProcessing') return { bos: true, eos: true };
    if (!Array.isArray(single)) continue;
    const isSpecial = (at: number) => 'SpecialToken' in Object(single.at(at));
    return { bos: isSpecial(0), eos: isSpecial(-1) };
  }
  return { bos: false, eos: false };
}

/** True if the second text of a pair is of a type of its own. */
function hasTypedPairs(document: Members): boolean {
  return partsOf(document.post_processor).some(({ pair }) =>
    JSON.stringify(pair ?? null).includes('"type_id":1'),
  );
}

function endNotes(path: string, settings: Members, document: Members): string[] {
  const ends = endsOf(document);
  const asked = [
    ['add_bos_token', settings.add_bos_token, ends.bos],
    ['add_eos_token', settings.add_eos_token, ends.eos],
  ] as const;
  return asked
    .filter(([, wanted, done]) => typeof wanted === 'boolean' && wanted !== done)
    .map(([field, wanted, done]) => {
      const adds = done ? 'adds one' : 'adds none';
      const rule = 'is followed, as transformers 5 does and 4 did not';
      return `${path}: ${field} is ${wanted}, tokenizer.json ${adds} and ${rule}`;
    });
}
