import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { boundsOf, fitsValue, valueList } from './domain/attribute-values.js';
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
  const sql = `SELECT ${DUCKDB.members('attributes', DUCKDB.text(name))} FROM item`;
  expect(await rowsOf(sql)).toEqual([[[`value of ${name}`]]]);
});

it.each([...NAMES, ...ODD, "'); DROP TABLE item; --", "\\'"])(
  'a name %j stays a name in a filter',
  async (name) => {
    const fits = fitsValue(DUCKDB, 'attributes', name, `value of ${name}`);
    const isThere = [...NAMES, ...ODD].includes(name);
    expect(await rowsOf(`SELECT ${fits} FROM item`)).toEqual([[isThere]]);
  },
);

it('attributes are read by the names that an item has, whatever these are', async () => {
  const named = DUCKDB.each('attributes', DUCKDB.names('attributes'), 'name', 'item');
  const value = DUCKDB.members('attributes', 'name');
  const rows = await rowsOf(`SELECT name, ${value} FROM (${named}) AS named`);
  expect(rows).toEqual(
    [...NAMES, ...ODD].map((name) => [name, [`value of ${name}`]]).sort(byPlace),
  );
});

/** As JSON.stringify has them: integer keys come first. */
function byPlace([a]: unknown[], [b]: unknown[]): number {
  return Number(b === '0') - Number(a === '0');
}

it('ClickHouse gets them as a literal', () => {
  expect(CLICKHOUSE.members('j', CLICKHOUSE.text('a\\b\'c"'))).toContain(
    `JSONExtractString(j, 'a\\\\b\\'c"')`,
  );
});

it.each([
  ['{"s":["at","de"]}', ['at', 'de']],
  ['{"s":[]}', ['[]']],
  ['{"s":5}', ['5']],
  ['{}', ['']],
  ['{"s":true}', ['true']],
])('the members of %s are %j', async (json, members) => {
  const [row] = await rowsOf(`SELECT ${DUCKDB.members(`'${json}'`, "'s'")}`);
  expect(row).toEqual([members]);
});

it('ranges of numbers are round, and found again by their names', async () => {
  expect(boundsOf(20, 0, 100)).toEqual([]);
  expect(boundsOf(21, 0.05, 0.93)).toEqual([0.2, 0.4, 0.6, 0.8, 1]);
  const bounds = boundsOf(300, -12, 59);
  expect(bounds).toEqual([-10, 0, 10, 20, 30, 40, 50, 60]);
  for (const amount of [-99, -10, 0, 9.99, 59.99, 60, 1e6]) {
    const json = `'{"price":${amount}}'`;
    const list = valueList(DUCKDB, json, "'price'", bounds);
    const [[[value]]] = (await rowsOf(`SELECT ${list}`)) as [[[string]]];
    const fits = fitsValue(DUCKDB, json, 'price', value);
    const other = fitsValue(DUCKDB, json, 'price', '1e7..2e7');
    expect(await rowsOf(`SELECT ${fits}, ${other}`), value).toEqual([[true, false]]);
  }
});
