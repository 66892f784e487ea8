import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLICKHOUSE, DUCKDB } from './domain/dialect.js';

const NAMES = ['plain', 'size 12"', 'a\\b', 'a.b', 'a/b', 'a~b', '~1', '0', '*', '[0]', "it's"];
const ODD = ['é', '$', '$.x', '', '#', '"', '\\"', '/'];

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  connection = await instance.connect();
  await connection.run('CREATE TABLE item (attributes VARCHAR)');
  const all = [...NAMES, ...ODD].map((name) => [name, `value of ${name}`]);
  await connection.run('INSERT INTO item VALUES ($1)', [JSON.stringify(Object.fromEntries(all))]);
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const rowsOf = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();

it.each([...NAMES, ...ODD])('an attribute called %j is read in DuckDB', async (name) => {
  const sql = `SELECT ${DUCKDB.attribute('attributes', name)} FROM item`;
  expect(await rowsOf(sql)).toEqual([[`value of ${name}`]]);
});

it('attributes are read by the names that an item has, whatever these are', async () => {
  const named = DUCKDB.each('attributes', DUCKDB.names('attributes'), 'name', 'item');
  const value = DUCKDB.attributeNamed('attributes', 'name');
  const rows = await rowsOf(`SELECT name, ${value} FROM (${named}) AS named`);
  expect(rows).toEqual([...NAMES, ...ODD].map((name) => [name, `value of ${name}`]).sort(byPlace));
});

/** As JSON.stringify has them: integer keys come first. */
function byPlace([a = '']: string[], [b = '']: string[]): number {
  return Number(b === '0') - Number(a === '0');
}

it('ClickHouse gets them as a literal', () => {
  expect(CLICKHOUSE.attribute('j', 'a\\b\'c"')).toContain(`JSONExtractString(j, 'a\\\\b\\'c"')`);
});
