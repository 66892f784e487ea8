/** Eligibility as a sentence, and the clause that an explanation names. */

type Json = Readonly<Record<string, unknown>>;

const VALUES_SHOWN = 5;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function listed(values: readonly unknown[]): string {
  const shown = values.slice(0, VALUES_SHOWN).map(String);
  const more = values.length - shown.length;
  if (more > 0) return `${shown.join(', ')} or ${more} more`;
  const last = shown.pop();
  return shown.length === 0 ? String(last) : `${shown.join(', ')} or ${last}`;
}

function rangeWords(name: string, min: unknown, max: unknown): string {
  if (min === undefined) return `${name} is at most ${String(max)}`;
  if (max === undefined) return `${name} is at least ${String(min)}`;
  return `${name} is from ${String(min)} to ${String(max)}`;
}

function joined(clauses: readonly unknown[], word: string, none: string): string {
  if (clauses.length === 0) return none;
  const parts = clauses.map((clause) => {
    const words = clauseWords(clause);
    const isMixed = isRecord(clause) && ('all' in clause || 'any' in clause);
    return isMixed && clauses.length > 1 ? `(${words})` : words;
  });
  return parts.join(` ${word} `);
}

/** A clause of docs/concepts/eligibility.md; one of another form as it is written. */
export function clauseWords(clause: unknown): string {
  if (!isRecord(clause)) return JSON.stringify(clause);
  const { attribute, in: values, contains, min, max, all, any, not } = clause;
  if (Array.isArray(all)) return joined(all, 'and', 'any item');
  if (Array.isArray(any)) return joined(any, 'or', 'no item');
  if (not !== undefined) return `not: ${clauseWords(not)}`;
  const name = String(attribute);
  if (Array.isArray(values)) return `${name} is ${listed(values)}`;
  if (Array.isArray(contains)) return `${name} has ${listed(contains)}`;
  if (min !== undefined || max !== undefined) return rangeWords(name, min, max);
  return JSON.stringify(clause);
}

const items = (count: number) => (count === 1 ? '1 item' : `${count} items`);

/** Words of a request's eligibility, given as JSON. */
export function eligibilityWords(text: string): string {
  const { predicate, allowed, denied, seen } = JSON.parse(text) as Json;
  const parts = [
    ...(predicate === undefined ? [] : [clauseWords(predicate)]),
    ...(Array.isArray(allowed) ? [`among ${items(allowed.length)} that are listed`] : []),
    ...(Array.isArray(denied) && denied.length > 0 ? [`without ${items(denied.length)}`] : []),
    ...(Array.isArray(seen) && seen.length > 0
      ? [`without ${items(seen.length)} seen before`]
      : []),
  ];
  return parts.length === 0 ? 'every live item' : parts.join(', ');
}

/** The value at a path such as `predicate.all[0]`; undefined: none. */
function at(value: unknown, path: string): unknown {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  return steps.reduce<unknown>(
    (found, step) => (Array.isArray(found) || isRecord(found) ? (found as Json)[step] : undefined),
    value,
  );
}

/** An item's value for the attribute of a clause, in words. */
function hasWords(attribute: unknown, attributes: Json | undefined): string {
  if (attributes === undefined || typeof attribute !== 'string') return '';
  const value = attributes[attribute];
  if (value === undefined) return `The item has no ${attribute}; `;
  return `The item's ${attribute} is ${Array.isArray(value) ? value.join(', ') : String(value)}; `;
}

const LISTS: Readonly<Record<string, string>> = {
  allowed: 'The request allows a list of items, and this one is not on it.',
  denied: 'The request denies this item (denied).',
  seen: 'The request says that the user has seen this item (seen).',
  flight: 'The flight of the item has not begun, or has ended.',
};

/**
 * Why an item is not eligible.
 * @param path of the clause, as an explanation has it
 * @param eligibility of the request, as JSON
 * @param attributes of the item; undefined where they are not known
 */
export function refusalWords(path: string, eligibility: string, attributes?: Json): string {
  const list = LISTS[path.split('[')[0] ?? ''];
  if (list !== undefined) return list;
  const clause = at(JSON.parse(eligibility || '{}'), path);
  if (clause === undefined) return `The eligibility of the request keeps it out: ${path}.`;
  const inner = isRecord(clause) && isRecord(clause.not) ? clause.not : clause;
  const attribute = isRecord(inner) ? inner.attribute : undefined;
  return `${hasWords(attribute, attributes)}the request wants: ${clauseWords(clause)}.`.replace(
    /^t/,
    'T',
  );
}
