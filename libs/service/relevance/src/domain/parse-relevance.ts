import { ItemText, JsonField } from '@tessera/prompt';
import {
  PAIR_SLOTS,
  type RelevanceLabel,
  type RelevanceTemplate,
  slotsOf,
} from './relevance-template.js';

const TEMPLATE_VERSION = 1;
const TEXT_LENGTH_MAX = 100_000;
const NAME_LENGTH_MAX = 100;
const SEGMENTS_MAX = 64;
const LABELS_MAX = 64;
const LABEL_LENGTH_MAX = 256;
const LABEL_VALUE_MAX = 1_000_000;
const PROMPT_TOKENS_MAX = 1 << 20;

/**
 * Checks a parsed relevance.json (version 1) and gives its template.
 * @throws TesseraError PROMPT_TEMPLATE_INVALID with the path of the first field at fault
 */
export function parseRelevance(document: unknown, fileName = 'relevance.json'): RelevanceTemplate {
  const root = new JsonField('PROMPT_TEMPLATE_INVALID', fileName, '', document);
  root.onlyKeys([
    'version',
    'name',
    'segments',
    'itemText',
    'instruction',
    'labels',
    'over',
    'score',
    'maxPromptTokens',
  ]);
  root.key('version').integer(TEMPLATE_VERSION, TEMPLATE_VERSION);
  const instruction = root.key('instruction');
  const tokensMax = root.key('maxPromptTokens');
  const labels = root.key('labels').array(1, LABELS_MAX).map(parseLabel);
  const over = choice(root.key('over'), ['labels', 'vocabulary']);
  if (over === 'labels' && labels.length === 1) {
    root.key('labels').fail("two labels or more, or over: 'vocabulary'");
  }
  const score = choice(root.key('score'), ['expectation', 'logOdds']);
  if (score === 'logOdds') checkOdds(root.key('labels'), labels, over);
  return {
    name: root.key('name').filledText(NAME_LENGTH_MAX),
    segments: parseSegments(root.key('segments')),
    itemText: parseItemText(root.key('itemText')),
    instruction: instruction.absent ? '' : instruction.text(TEXT_LENGTH_MAX),
    labels,
    over,
    score,
    tokensMax: tokensMax.absent ? PROMPT_TOKENS_MAX : tokensMax.integer(1, PROMPT_TOKENS_MAX),
  };
}

function parseItemText(field: JsonField): ItemText {
  if (field.absent) return ItemText.ofTitle;
  const text = new ItemText(field.filledText(TEXT_LENGTH_MAX));
  return text.slots.length > 0 ? text : field.fail('{title} or an attribute in braces');
}

function parseSegments(field: JsonField): readonly string[] {
  const fields = field.array(2, SEGMENTS_MAX);
  const segments = fields.map((segment) => segment.filledText(TEXT_LENGTH_MAX));
  const slots = segments.map(slotsOf);
  for (const slot of PAIR_SLOTS) {
    const count = slots.flat().filter((name) => name === slot).length;
    const isOptional = slot === 'instruction';
    if (count > 1 || (count === 0 && !isOptional)) field.fail(`{${slot}} once`);
  }
  const itemAt = slots.findIndex((names) => names.includes('item'));
  if (!segments[itemAt]?.endsWith('{item}')) {
    fields[itemAt]?.fail('{item} at the end of its segment');
  }
  if ((slots.at(-1) ?? []).length > 0) fields.at(-1)?.fail('a tail without slots');
  return segments;
}

function parseLabel(field: JsonField): RelevanceLabel {
  field.onlyKeys(['text', 'value']);
  const { value } = field.key('value');
  const isNumber = typeof value === 'number' && Math.abs(value) <= LABEL_VALUE_MAX;
  return {
    text: field.key('text').filledText(LABEL_LENGTH_MAX),
    value: isNumber
      ? value
      : field.key('value').fail(`a number of -${LABEL_VALUE_MAX}..${LABEL_VALUE_MAX}`),
  };
}

/** Odds are of two sides: the labels of value 1 and those of value 0, or all other texts. */
function checkOdds(
  field: JsonField,
  labels: readonly RelevanceLabel[],
  over: RelevanceTemplate['over'],
): void {
  const values = new Set(labels.map(({ value }) => value));
  const isOneSided = over === 'vocabulary' && values.size === 1 && values.has(1);
  const isTwoSided = values.size === 2 && values.has(0) && values.has(1);
  if (!isOneSided && !isTwoSided) field.fail('labels of the values 0 and 1');
}

function choice<Word extends string>(field: JsonField, words: readonly [Word, ...Word[]]): Word {
  if (field.absent) return words[0];
  const word = words.find((known) => known === field.value);
  return word ?? field.fail(`one of ${words.join(', ')}`);
}
