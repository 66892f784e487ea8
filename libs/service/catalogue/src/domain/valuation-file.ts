/** The file of the formulas by which items are valued (docs/concepts/value.md). */

import {
  type Formula,
  type HeadTerm,
  REACH_LIMITS,
  TERM_FUNCTIONS,
  type Term,
} from '@tessera/engine';
import { parseJson, shown } from '@tessera/errors';
import { FormReader } from './clause-json.js';

type Json = Readonly<Record<string, unknown>>;

const reader = new FormReader('CATALOGUE_INVALID');
const VALUATION_MEMBERS = ['score_weight', 'terms', 'floor', 'bid', 'pace'];
const TERM_MEMBERS = ['attribute', 'head', 'function', 'weight', 'default', 'min', 'max', 'name'];
const EXCLUDE = 'exclude';
/** The engine's own limit, of either sign (native/src/catalogue/valuation.h). */
const WEIGHT_MAX = 1e9;

function membersOf(path: string, value: unknown, known: readonly string[]): Json {
  const json = reader.object(path, value);
  const stranger = Object.keys(json).find((name) => !known.includes(name));
  if (stranger === undefined) return json;
  return reader.refuse(`${path}.${stranger}`, `one of ${known.join(', ')}`, 'another member');
}

function nameAt(path: string, value: unknown): string {
  const isName = typeof value === 'string' && value !== '' && value.isWellFormed();
  return isName ? value : reader.refuse(path, 'a name', shown(value));
}

/** JSON writes numbers that no double holds, such as 1e999. */
function numberAt(path: string, value: unknown, what = 'a finite number'): number {
  return Number.isFinite(value) ? (value as number) : reader.refuse(path, what, shown(value));
}

function weightAt(path: string, value: unknown, least: number): number {
  const weight = numberAt(path, value);
  if (weight >= least && weight <= WEIGHT_MAX) return weight;
  return reader.refuse(path, `${least}..${WEIGHT_MAX}`, weight);
}

function listOf(path: string, value: unknown, max: number): readonly unknown[] {
  const list = reader.list(path, value);
  return list.length <= max ? list : reader.refuse(path, `at most ${max}`, list.length);
}

function boundsAt(path: string, { min, max }: Json, name: string): Pick<Term, 'min' | 'max'> {
  const isClamp = name === 'clamp';
  if (isClamp && min === undefined && max === undefined) {
    reader.refuse(path, 'min or max (function is clamp)', 'neither');
  }
  const at = (member: string, value: unknown, none: number) => {
    if (value === undefined) return none;
    if (isClamp) return numberAt(`${path}.${member}`, value);
    return reader.refuse(`${path}.${member}`, `none (function is ${name})`, shown(value));
  };
  const least = at('min', min, Number.NEGATIVE_INFINITY);
  const most = at('max', max, Number.POSITIVE_INFINITY);
  if (least > most) reader.refuse(`${path}.min`, `at most max (${most})`, least);
  return { min: least, max: most };
}

function termAt(path: string, value: unknown): Term | HeadTerm {
  const json = membersOf(path, value, TERM_MEMBERS);
  const of = json.head === undefined ? 'attribute' : 'head';
  if (of === 'head') {
    const stranger = ['attribute', 'default'].find((member) => json[member] !== undefined);
    if (stranger !== undefined) {
      reader.refuse(`${path}.${stranger}`, 'none beside a head', shown(json[stranger]));
    }
  }
  const source = nameAt(`${path}.${of}`, json[of]);
  const { name = source, weight = 1, default: byDefault = EXCLUDE } = json;
  const called = TERM_FUNCTIONS.find((one) => one === (json.function ?? 'identity'));
  if (called === undefined) {
    return reader.refuse(`${path}.function`, TERM_FUNCTIONS.join(', '), shown(json.function));
  }
  const term = {
    name: nameAt(`${path}.name`, name),
    function: called,
    weight: weightAt(`${path}.weight`, weight, -WEIGHT_MAX),
    ...boundsAt(path, json, called),
  };
  if (of === 'head') return { ...term, head: source };
  return {
    ...term,
    attribute: source,
    byDefault:
      byDefault === EXCLUDE
        ? Number.NaN
        : numberAt(`${path}.default`, byDefault, `a finite number or ${EXCLUDE}`),
  };
}

function checkNames(path: string, terms: readonly (Term | HeadTerm)[]): void {
  const names = terms.map(({ name }) => name);
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice < 0) return;
  reader.refuse(`${path}.terms[${twice}].name`, 'names that differ', `'${names[twice]}' twice`);
}

/** Which term the bid is, and which attribute has its paces. */
function bidAt(path: string, json: Json, terms: readonly Term[]): Pick<Formula, 'bid' | 'pace'> {
  const { bid, pace } = json;
  if (bid === undefined) {
    if (pace !== undefined) reader.refuse(`${path}.pace`, 'a bid beside it', 'none');
    return { bid: '', pace: '' };
  }
  const term = terms.find(({ name }) => name === bid);
  if (term === undefined) {
    const names = terms.map(({ name }) => name).join(', ');
    return reader.refuse(`${path}.bid`, `the name of an attribute's term (${names})`, shown(bid));
  }
  if (term.weight <= 0) {
    reader.refuse(`${path}.bid`, 'a term of a weight above 0', `one of weight ${term.weight}`);
  }
  return { bid: term.name, pace: pace === undefined ? '' : nameAt(`${path}.pace`, pace) };
}

function valuationAt(path: string, name: string, value: unknown): Formula {
  const json = membersOf(path, value, VALUATION_MEMBERS);
  const { score_weight = 1, floor } = json;
  const list = listOf(`${path}.terms`, json.terms, REACH_LIMITS.terms);
  const all = list.map((term, index) => termAt(`${path}.terms[${index}]`, term));
  checkNames(path, all);
  const terms = all.filter((term) => 'attribute' in term);
  const headTerms = all.filter((term) => 'head' in term);
  const scoreWeight = weightAt(`${path}.score_weight`, score_weight, 0);
  return {
    name,
    scoreWeight,
    terms,
    floor: floor === undefined ? Number.NEGATIVE_INFINITY : numberAt(`${path}.floor`, floor),
    ...bidAt(path, json, terms),
    headTerms,
  };
}

/**
 * Reads `{"ecpm": {"terms": [{"attribute": "bid", "function": "log"}], "bid": "bid"}}`.
 * @param file named by messages
 * @throws TesseraError CATALOGUE_INVALID with file and member
 */
export function parseValuations(text: string, file: string): Formula[] {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch (error) {
    reader.refuse(file, 'JSON', (error as Error).message);
  }
  const entries = Object.entries(reader.object(file, json));
  const { valuations } = REACH_LIMITS;
  if (entries.length > valuations) {
    reader.refuse(file, `at most ${valuations} valuations`, entries.length);
  }
  return entries.map(([name, value]) => {
    if (name === '') reader.refuse(file, 'valuations with names', 'one without');
    return valuationAt(`${file}: ${name}`, name, value);
  });
}
