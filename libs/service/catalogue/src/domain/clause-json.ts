/** Clauses as the JSON of docs/concepts/eligibility.md. */

import { type Clause, REACH_LIMITS } from '@tessera/engine';
import { type ErrorCode, expecting, idExpected, shown } from '@tessera/errors';

type Json = Readonly<Record<string, unknown>>;

/** A clause of a kind; what the kind has no use for is left out. */
export function clauseOf(
  kind: Clause['kind'],
  members: { readonly [Name in keyof Clause]?: Clause[Name] | undefined },
): Clause {
  return {
    kind,
    attribute: members.attribute ?? '',
    values: members.values ?? [],
    min: members.min ?? Number.NEGATIVE_INFINITY,
    max: members.max ?? Number.POSITIVE_INFINITY,
    clauses: members.clauses ?? [],
  };
}

type Bounds = { readonly min?: number | undefined; readonly max?: number | undefined };

/** Reads and checks JSON, naming the path of what has another form than it must. */
export class FormReader {
  private readonly invalid: ReturnType<typeof expecting>;

  /** @param code of the refusals */
  constructor(code: ErrorCode) {
    this.invalid = expecting(code);
  }

  refuse(path: string, what: string, got: unknown): never {
    throw this.invalid(path, what, got);
  }

  object(path: string, value: unknown): Json {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Json) : this.refuse(path, 'a JSON object', shown(value));
  }

  list(path: string, value: unknown): readonly unknown[] {
    return Array.isArray(value) ? value : this.refuse(path, 'a list', shown(value));
  }

  texts(path: string, value: unknown, what: string): string[] {
    return this.list(path, value).map((entry, index) =>
      typeof entry === 'string' && entry.isWellFormed()
        ? entry
        : this.refuse(`${path}[${index}]`, what, shown(entry)),
    );
  }

  /** Item IDs; an integer stands for its digits, as in every body. */
  ids(path: string, value: unknown): string[] {
    return this.list(path, value).map((entry, index) => {
      if (Number.isSafeInteger(entry)) return String(entry);
      if (typeof entry === 'string' && entry.isWellFormed()) return entry;
      const expected = typeof entry === 'string' ? 'well-formed Unicode' : idExpected(entry);
      return this.refuse(`${path}[${index}]`, expected, shown(entry));
    });
  }

  depth(path: string, depth: number): void {
    const { clauseDepth } = REACH_LIMITS;
    if (depth > clauseDepth) this.refuse(path, `at most ${clauseDepth} clauses deep`, depth);
  }

  attribute(path: string, value: unknown): string {
    const isName = typeof value === 'string' && value !== '' && value.isWellFormed();
    return isName ? value : this.refuse(`${path}.attribute`, 'a name', shown(value));
  }

  range(path: string, attribute: string, { min, max }: Bounds): Clause {
    if (min === undefined && max === undefined) this.refuse(path, 'min or max', 'neither');
    const clause = clauseOf('range', {
      attribute,
      min: this.bound(`${path}.min`, min),
      max: this.bound(`${path}.max`, max),
    });
    if (clause.min > clause.max) this.refuse(`${path}.min`, `at most max (${max})`, min);
    return clause;
  }

  private bound(path: string, value: unknown): number | undefined {
    if (value === undefined || Number.isFinite(value)) return value as number | undefined;
    return this.refuse(path, 'a finite number', typeof value === 'number' ? `${value}` : value);
  }
}

/** A truth value stands for the text that an attribute of it is. */
function valuesAt(reader: FormReader, path: string, value: unknown): string[] {
  const list = reader.list(path, value);
  const texts = list.map((each) => (typeof each === 'boolean' ? `${each}` : each));
  return reader.texts(path, texts, 'a text');
}

function leafAt(reader: FormReader, path: string, json: Json): Clause {
  const attribute = reader.attribute(path, json.attribute);
  const members = Object.keys(json).filter((name) => name !== 'attribute');
  const kind = members.find((name) => name === 'in' || name === 'contains');
  if (kind !== undefined) {
    if (members.length > 1) reader.refuse(path, `${kind} alone`, members.join(', '));
    const values = valuesAt(reader, `${path}.${kind}`, json[kind]);
    return clauseOf(kind as 'in' | 'contains', { attribute, values });
  }
  const stranger = members.find((name) => name !== 'min' && name !== 'max');
  const forms = 'in, contains, min or max';
  if (stranger !== undefined) reader.refuse(`${path}.${stranger}`, forms, `'${stranger}'`);
  if (members.length === 0) reader.refuse(path, forms, 'the attribute alone');
  return reader.range(path, attribute, json as Bounds);
}

/** @param depth of the clause, the outermost being 1 */
function clauseAt(reader: FormReader, path: string, value: unknown, depth: number): Clause {
  reader.depth(path, depth);
  const json = reader.object(path, value);
  if ('attribute' in json) return leafAt(reader, path, json);
  const members = Object.keys(json);
  const [kind = ''] = members;
  if (members.length !== 1) {
    reader.refuse(path, 'one of all, any and not, or an attribute', members.join(', '));
  }
  const at = `${path}.${kind}`;
  if (kind === 'not') {
    return clauseOf(kind, { clauses: [clauseAt(reader, at, json.not, depth + 1)] });
  }
  if (kind !== 'all' && kind !== 'any') {
    return reader.refuse(at, 'all, any, not or attribute', `'${kind}'`);
  }
  const clauses = reader
    .list(at, json[kind])
    .map((below, index) => clauseAt(reader, `${at}[${index}]`, below, depth + 1));
  return clauseOf(kind, { clauses });
}

/** @throws TesseraError with the reader's code and the path of the member at fault */
export function readClause(reader: FormReader, path: string, value: unknown): Clause {
  return clauseAt(reader, path, value, 1);
}

export function clauseJson({ kind, attribute, values, min, max, clauses }: Clause): Json {
  if (kind === 'not') return { not: clauses[0] && clauseJson(clauses[0]) };
  if (kind === 'all' || kind === 'any') return { [kind]: clauses.map(clauseJson) };
  if (kind !== 'range') return { attribute, [kind]: values };
  return {
    attribute,
    ...(Number.isFinite(min) && { min }),
    ...(Number.isFinite(max) && { max }),
  };
}
