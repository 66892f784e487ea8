import { expecting } from '@tessera/errors';

type Json = Readonly<Record<string, unknown>>;

const invalid = expecting('CATALOGUE_INVALID');
const FORMS = 'all, any, not, or an attribute with in, contains, min or max';

function objectOf(value: unknown, path: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw invalid(path, 'a JSON object', value);
}

function listOf(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(path, 'a list', value);
}

function textOf(value: unknown, path: string): string {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string' && value.isWellFormed()) return value;
  throw invalid(path, 'a text', value);
}

function boundOf(value: unknown, path: string): number | undefined {
  if (value === undefined || Number.isFinite(value)) return value as number | undefined;
  throw invalid(path, 'a finite number', value);
}

function aboutAttribute(clause: Json, path: string): object {
  const attribute = textOf(clause.attribute, `${path}.attribute`);
  const members = Object.keys(clause).filter((name) => name !== 'attribute');
  const [form = ''] = members;
  if (members.length === 1 && (form === 'in' || form === 'contains')) {
    const values = listOf(clause[form], `${path}.${form}`);
    const at = (i: number) => `${path}.${form}[${i}]`;
    return { [form]: { attribute, values: values.map((value, i) => textOf(value, at(i))) } };
  }
  const stranger = members.find((name) => name !== 'min' && name !== 'max');
  if (stranger !== undefined || form === '') throw invalid(path, FORMS, clause);
  const min = boundOf(clause.min, `${path}.min`);
  const max = boundOf(clause.max, `${path}.max`);
  return { range: { attribute, min, max } };
}

function clauseOf(value: unknown, path: string): object {
  const clause = objectOf(value, path);
  if ('attribute' in clause) return aboutAttribute(clause, path);
  const [form = '', second] = Object.keys(clause);
  const below = `${path}.${form}`;
  if (second === undefined && form === 'not') return { not: clauseOf(clause.not, below) };
  if (second !== undefined || (form !== 'all' && form !== 'any'))
    throw invalid(path, FORMS, clause);
  const predicates = listOf(clause[form], below).map((one, i) => clauseOf(one, `${below}[${i}]`));
  return { [form]: { predicates } };
}

/**
 * A predicate in JSON (docs/eligibility.md) in the words of the wire.
 * @throws TesseraError CATALOGUE_INVALID with the path of the member at fault
 */
export function wirePredicate(json: string): object {
  return clauseOf(JSON.parse(json), 'predicate');
}
