import { createHash } from 'node:crypto';
import type { ScoreNorm } from '@tessera/engine';
import { JsonField } from './json-field.js';
import type {
  Affix,
  HistorySegment,
  LevelForm,
  PromptTemplate,
  Segment,
  TimeGap,
  UserSegment,
  ValueSegment,
} from './prompt-template.js';

const TEMPLATE_VERSION = 1;
/** Depth of a catalogue at most (native/src/catalogue). */
const LEVELS_MAX = 32;
const SEGMENTS_MAX = 256;
const TEMPLATE_TEXT_LENGTH_MAX = 100_000;
const SLOT_VALUES_MAX = 10_000;
const LEVEL_IDS_MAX = 1 << 24;
const HISTORY_ITEMS_MAX = 100_000;
const TIME_GAPS_MAX = 64;
const USER_BINS_MAX = 1 << 24;
/** About a hundred years. */
const SECONDS_MAX = 3_155_760_000;
const PROMPT_TOKENS_MAX = 1 << 20;
const TERMINAL_TOKENS_MAX = 8;
const NAME_LENGTH_MAX = 100;
const TOKEN_ID_MAX = 0x7fff_ffff;
const CODE_SLOT = '{code}';

/**
 * Checks a parsed prompt.json (version 1) and gives its template.
 * @throws TesseraError PROMPT_TEMPLATE_INVALID with the path of the first field at fault
 */
export function parseTemplate(document: unknown, fileName = 'prompt.json'): PromptTemplate {
  const root = new JsonField('PROMPT_TEMPLATE_INVALID', fileName, '', document);
  root.onlyKeys([
    'version',
    'name',
    'levels',
    'item',
    'answer',
    'segments',
    'maxPromptTokens',
    'trimStep',
  ]);
  root.key('version').integer(TEMPLATE_VERSION, TEMPLATE_VERSION);
  const item = withDefault(root.key('item'), {}, fileName);
  item.onlyKeys(['prefix', 'suffix']);
  const answer = withDefault(root.key('answer'), {}, fileName);
  answer.onlyKeys(['prefix', 'terminal', 'norm']);
  const norm = answer.key('norm');
  const terminal = answer.key('terminal');
  return {
    name: root.key('name').filledText(NAME_LENGTH_MAX),
    levels: root.key('levels').array(1, LEVELS_MAX).map(parseLevel),
    itemPrefix: parseAffix(item.key('prefix')),
    itemSuffix: parseAffix(item.key('suffix')),
    answerPrefix: optionalText(answer.key('prefix')),
    answerTerminal: terminal.absent
      ? []
      : terminal
          .array(0, TERMINAL_TOKENS_MAX)
          .map((field) => field.filledText(TEMPLATE_TEXT_LENGTH_MAX)),
    ...(norm.absent ? {} : { answerNorm: parseNorm(norm) }),
    segments: root.key('segments').array(1, SEGMENTS_MAX).map(parseSegment),
    promptTokensMax: optionalInteger(root.key('maxPromptTokens'), PROMPT_TOKENS_MAX),
    trimStep: root.key('trimStep').absent ? 1 : root.key('trimStep').integer(1, HISTORY_ITEMS_MAX),
    digest: createHash('sha256').update(canonicalJson(document)).digest('hex'),
  };
}

function parseNorm(field: JsonField): ScoreNorm {
  const { value } = field;
  if (value === 'full' || value === 'level' || value === 'allowed') return value;
  return field.fail('"full", "level" or "allowed"');
}

function withDefault(field: JsonField, value: unknown, fileName: string): JsonField {
  if (!field.absent) return field;
  return new JsonField('PROMPT_TEMPLATE_INVALID', fileName, field.path, value);
}

function optionalText(field: JsonField): string {
  return field.absent ? '' : field.text(TEMPLATE_TEXT_LENGTH_MAX);
}

function optionalInteger(field: JsonField, max: number): number {
  return field.absent ? max : field.integer(1, max);
}

function parseLevel(field: JsonField): LevelForm {
  if (typeof field.value === 'string') {
    const pattern = field.text(TEMPLATE_TEXT_LENGTH_MAX);
    if (pattern.split(CODE_SLOT).length !== 2) field.fail(`a text with one ${CODE_SLOT}`);
    return { kind: 'pattern', pattern };
  }
  field.onlyKeys(['base', 'ids']);
  const base = field.key('base');
  const ids = field.key('ids');
  if (base.absent === ids.absent) field.fail('a pattern, {"base": n} or {"ids": [...]}');
  if (!base.absent) return { kind: 'base', base: base.integer(0, TOKEN_ID_MAX) };
  return {
    kind: 'ids',
    ids: ids.array(1, LEVEL_IDS_MAX).map((id) => id.integer(0, TOKEN_ID_MAX)),
  };
}

function parseAffix(field: JsonField): Affix {
  if (field.absent) return '';
  if (typeof field.value === 'string') return field.text(TEMPLATE_TEXT_LENGTH_MAX);
  return new Map(
    field.entries().map(([domain, text]) => [domain, text.text(TEMPLATE_TEXT_LENGTH_MAX)]),
  );
}

function parseSegment(field: JsonField): Segment {
  const text = field.key('text');
  if (!text.absent) {
    field.onlyKeys(['text']);
    return { kind: 'text', text: text.text(TEMPLATE_TEXT_LENGTH_MAX) };
  }
  const slot = field.key('slot');
  if (slot.value === 'history') return parseHistory(field);
  if (slot.value === 'profile' || slot.value === 'scene') return parseValue(field, slot.value);
  if (slot.value === 'user') return parseUser(field);
  return slot.fail('"profile", "user", "history" or "scene" (or a segment with "text")');
}

function parseUser(field: JsonField): UserSegment {
  field.onlyKeys(['slot', 'bins', 'before', 'after']);
  return {
    kind: 'user',
    bins: field.key('bins').integer(1, USER_BINS_MAX),
    before: optionalText(field.key('before')),
    after: optionalText(field.key('after')),
  };
}

function parseValue(field: JsonField, kind: 'profile' | 'scene'): ValueSegment {
  field.onlyKeys(['slot', 'key', 'before', 'after', 'values', 'default']);
  const values = parseValues(field.key('values'));
  const fallback = field.key('default');
  if (!fallback.absent && values !== undefined && !values.has(fallback.text(NAME_LENGTH_MAX))) {
    fallback.fail(`one of ${[...values.keys()].join(', ')}`);
  }
  return {
    kind,
    key: field.key('key').filledText(NAME_LENGTH_MAX),
    before: optionalText(field.key('before')),
    after: optionalText(field.key('after')),
    ...(values === undefined ? {} : { values }),
    ...(fallback.absent ? {} : { default: fallback.text(TEMPLATE_TEXT_LENGTH_MAX) }),
  };
}

function parseValues(field: JsonField): ReadonlyMap<string, string> | undefined {
  if (field.absent) return undefined;
  const entries = field.entries();
  if (entries.length < 1 || entries.length > SLOT_VALUES_MAX) {
    field.fail(`1..${SLOT_VALUES_MAX} values`);
  }
  return new Map(entries.map(([value, text]) => [value, text.text(TEMPLATE_TEXT_LENGTH_MAX)]));
}

function parseHistory(field: JsonField): HistorySegment {
  field.onlyKeys([
    ...['slot', 'separator', 'before', 'after', 'actions', 'domains', 'maxItems'],
    ...['actionTexts', 'timeGaps', 'mergeRepeatsSeconds'],
  ]);
  const actions = parseNames(field.key('actions'));
  const domains = parseNames(field.key('domains'));
  const actionTexts = parseValues(field.key('actionTexts'));
  const timeGaps = parseTimeGaps(field.key('timeGaps'));
  const mergeRepeats = field.key('mergeRepeatsSeconds');
  return {
    kind: 'history',
    separator: optionalText(field.key('separator')),
    before: optionalText(field.key('before')),
    after: optionalText(field.key('after')),
    ...(actions === undefined ? {} : { actions }),
    ...(domains === undefined ? {} : { domains }),
    ...(actionTexts === undefined ? {} : { actionTexts }),
    ...(timeGaps === undefined ? {} : { timeGaps }),
    ...(mergeRepeats.absent ? {} : { mergeRepeatsS: mergeRepeats.integer(0, SECONDS_MAX) }),
    itemsMax: optionalInteger(field.key('maxItems'), HISTORY_ITEMS_MAX),
  };
}

function parseTimeGaps(field: JsonField): TimeGap[] | undefined {
  if (field.absent) return undefined;
  const gaps = field.array(1, TIME_GAPS_MAX).map((gap) => {
    gap.onlyKeys(['atLeastSeconds', 'text']);
    const atLeastS = gap.key('atLeastSeconds').integer(0, SECONDS_MAX);
    return { atLeastS, text: gap.key('text').text(TEMPLATE_TEXT_LENGTH_MAX) };
  });
  gaps.forEach(({ atLeastS }, index) => {
    const before = gaps[index - 1];
    if (before === undefined || atLeastS > before.atLeastS) return;
    field.fail(`atLeastSeconds in ascending order, the one before is ${before.atLeastS}`);
  });
  return gaps;
}

function parseNames(field: JsonField): ReadonlySet<string> | undefined {
  if (field.absent) return undefined;
  return new Set(field.array(1, SLOT_VALUES_MAX).map((name) => name.text(NAME_LENGTH_MAX)));
}

/** JSON with sorted keys, so that the digest does not depend on how the file was laid out. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
