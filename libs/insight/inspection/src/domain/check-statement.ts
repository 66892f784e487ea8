import { TesseraError } from '@tessera/errors';
import { ALLOWED_FUNCTIONS, ALLOWED_TABLE_FUNCTIONS } from './allowed-functions.js';

/** A refusal of the SQL that an analyst wrote. */
export function sqlRefusal(reason: string, cause?: unknown): TesseraError {
  return new TesseraError('REQUEST_INVALID', `sql: ${reason}`, { field: 'sql', cause });
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type Node = { readonly [key: string]: Json };

/** A statement as `json_serialize_sql` gives it. */
interface Serialized {
  readonly error: boolean;
  readonly error_type?: string;
  readonly error_message?: string;
  readonly statements?: readonly Node[];
}

/** Values of `type` in the tree, whatever they are of; an unknown one is refused. */
const ALLOWED_TYPES: ReadonlySet<string> = new Set([
  // Queries and what modifies them.
  ...['SELECT_NODE', 'SET_OPERATION_NODE', 'RECURSIVE_CTE_NODE', 'CTE_NODE'],
  ...['DISTINCT_MODIFIER', 'LIMIT_MODIFIER', 'LIMIT_PERCENT_MODIFIER', 'ORDER_MODIFIER'],
  ...['ORDER_DEFAULT', 'ASCENDING', 'DESCENDING'],
  // Nodes of a FROM.
  ...['BASE_TABLE', 'SUBQUERY', 'JOIN', 'TABLE_FUNCTION', 'EXPRESSION_LIST', 'EMPTY', 'PIVOT'],
  // Expressions.
  ...['COLUMN_REF', 'VALUE_CONSTANT', 'STAR', 'FUNCTION', 'LAMBDA', 'CASE_EXPR', 'COLLATE'],
  ...['POSITIONAL_REFERENCE', 'CONJUNCTION_AND', 'CONJUNCTION_OR', 'GROUPING_FUNCTION'],
  ...['ARRAY_EXTRACT', 'ARRAY_SLICE', 'ARRAY_CONSTRUCTOR', 'STRUCT_EXTRACT'],
]);
const ALLOWED_TYPE_SHAPES = /^(COMPARE|OPERATOR|WINDOW)_[A-Z_]+$|^[A-Z_]+_TYPE_INFO$/;

/** Member that is the definition, by type of a node that defines a name. */
const DEFINITIONS: Readonly<Record<string, string>> = {
  RECURSIVE_CTE_NODE: 'left',
  CTE_NODE: 'query',
};

const STATEMENT_WANTED = 'expected one SELECT';

/**
 * Holds a statement that the database has parsed against what analysts may ask: one SELECT of
 * allowed nodes, of the named tables and of its own WITH, with allowed functions. Unknown nodes
 * are refused.
 * @param serialized what `json_serialize_sql` gave for the text
 * @param tables that may be read
 * @throws TesseraError REQUEST_INVALID naming what is refused
 */
export function checkStatement(serialized: string, tables: ReadonlySet<string>): void {
  const { error, error_type, error_message = '', statements = [] } = parsed(serialized);
  if (error && error_type === 'not implemented') {
    // A PIVOT without IN is several statements, as its columns are values that are yet unknown.
    throw sqlRefusal('expected a SELECT, or PIVOT with IN (...), got another statement');
  }
  if (error) throw sqlRefusal(error_message);
  if (statements.length !== 1) {
    const got = statements.length === 0 ? 'nothing' : `${statements.length} statements`;
    throw sqlRefusal(`${STATEMENT_WANTED}, got ${got}`);
  }
  new StatementCheck(tables).visit(statements as unknown as Json, new Set());
}

function parsed(serialized: string): Serialized {
  try {
    return JSON.parse(serialized) as Serialized;
  } catch (cause) {
    // The database writes numbers that are infinite as no JSON can.
    throw sqlRefusal('expected numbers that are finite, got one that is not', cause);
  }
}

type Names = ReadonlySet<string>;

class StatementCheck {
  constructor(private readonly tables: Names) {}

  /** @param own tables that a WITH around the node defines */
  visit(value: Json, own: Names): void {
    if (Array.isArray(value)) {
      for (const element of value) this.visit(element, own);
    } else if (typeof value === 'object' && value !== null) {
      this.visitNode(value as Node, own);
    }
  }

  private visitNode(node: Node, own: Names): void {
    if (typeof node.type === 'string') this.checkType(node.type);
    if (typeof node.function_name === 'string') this.checkFunction(node);
    if (node.type === 'BASE_TABLE') this.checkTable(node, own);
    if (node.type === 'TABLE_FUNCTION') this.checkTableFunction(node.function as Node);
    const inside = this.scopeOf(node, own);
    // The value of a constant is data: nothing in it is a node of the statement.
    const visited = new Set(['cte_map', node.type === 'VALUE_CONSTANT' ? 'value' : '']);
    visited.add(DEFINITIONS[String(node.type)] ?? '');
    for (const [key, child] of Object.entries(node)) {
      if (!visited.has(key)) this.visit(child, inside);
    }
  }

  /**
   * The names that are known inside the node. One of a WITH knows those before it, and itself only
   * where it is recursive: otherwise it means the table of that name.
   */
  private scopeOf(node: Node, own: Names): Names {
    const scope = new Set(own);
    const { map = [] } = (node.cte_map ?? {}) as { map?: readonly Node[] };
    for (const entry of map) {
      this.visit(entry.value ?? null, scope);
      scope.add(nameOf(entry.key));
    }
    const definition = DEFINITIONS[String(node.type)];
    if (definition === undefined) return scope;
    // It does not know the name; what comes behind it does.
    this.visit(node[definition] ?? null, scope);
    scope.add(nameOf(node.cte_name));
    return scope;
  }

  private checkType(type: string): void {
    if (ALLOWED_TYPES.has(type) || ALLOWED_TYPE_SHAPES.test(type)) return;
    throw sqlRefusal(`expected a SELECT without ${type}, got one with it`);
  }

  private checkFunction(node: Node): void {
    const { function_name, schema = '', catalog: database = '' } = node;
    const name = nameOf(function_name);
    // The parser writes the schema to functions that it makes of syntax.
    const isBuiltIn = (schema === '' || schema === 'main') && database === '';
    if (isBuiltIn && (ALLOWED_FUNCTIONS.has(name) || ALLOWED_TABLE_FUNCTIONS.has(name))) return;
    throw functionRefusal(isBuiltIn ? name : `${database}.${schema}.${name}`.replace(/^\./, ''));
  }

  private checkTableFunction(node: Node): void {
    const name = nameOf(node.function_name);
    if (!ALLOWED_TABLE_FUNCTIONS.has(name)) throw functionRefusal(name);
  }

  private checkTable({ table_name, schema_name, catalog_name }: Node, own: Names): void {
    const name = nameOf(table_name);
    const isOwn = schema_name === '' && catalog_name === '' && own.has(name);
    const isStored = (schema_name === '' || schema_name === 'main') && catalog_name === '';
    if (isOwn || (isStored && this.tables.has(name))) return;
    const known = [...this.tables].join(', ');
    const path = [catalog_name, schema_name, table_name].filter((part) => part !== '').join('.');
    throw sqlRefusal(`expected a table of ${known}, got '${path.slice(0, 80)}'`);
  }
}

/** Names do not depend on case. */
function nameOf(value: Json | undefined): string {
  return String(value).toLowerCase();
}

function functionRefusal(name: string): TesseraError {
  return sqlRefusal(
    `expected functions that docs/operate/console.md allows, got ${name.slice(0, 80)}(), ` +
      `which is not one`,
  );
}
