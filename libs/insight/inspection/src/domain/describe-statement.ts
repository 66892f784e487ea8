import { sqlRefusal } from './check-statement.js';

const SHOW = /^show\s+tables$/i;
const DESCRIBE = /^(?:describe|desc)\s+(?:table\s+)?"?(\w+)"?$/i;

/**
 * `SHOW TABLES` and `DESCRIBE name` as SELECTs; undefined for other statements.
 * @throws TesseraError REQUEST_INVALID where there is no table of the name
 */
export function described(sql: string, tables: ReadonlySet<string>): string | undefined {
  if (SHOW.test(sql)) {
    const names = [...tables].sort().map((name) => `('${name}')`);
    return `SELECT name FROM (VALUES ${names.join(', ')}) AS t(name)`;
  }
  const [, given] = DESCRIBE.exec(sql) ?? [];
  const name = given?.toLowerCase();
  if (name === undefined) return undefined;
  if (!tables.has(name)) {
    throw sqlRefusal(`expected a table of ${[...tables].join(', ')}, got '${name.slice(0, 80)}'`);
  }
  return `SELECT column_name AS name, column_type AS type FROM (DESCRIBE ${name})`;
}
