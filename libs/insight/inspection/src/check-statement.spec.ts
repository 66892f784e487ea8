/** The allow list against every function of the database and statements that would harm. */

import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALLOWED_FUNCTIONS, ALLOWED_TABLE_FUNCTIONS } from './domain/allowed-functions.js';
import { checkStatement } from './domain/check-statement.js';

const TABLES = new Set(['recalls', 'items', 'sets']);
let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  for (const table of TABLES) await connection.run(`CREATE TABLE ${table} (a INTEGER)`);
});

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

async function check(sql: string): Promise<void> {
  const found = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
  checkStatement(String(found.getRows()[0]?.[0]), TABLES);
}

async function namesOf(where: string): Promise<string[]> {
  const found = await connection.runAndReadAll(
    `SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE ${where} ORDER BY 1`,
  );
  return found.getRows().map(([name]) => String(name));
}

/** Whatever these begin with reaches beyond the values that it is given. */
const REACHING = new RegExp(
  '^(duckdb_|pragma_|pg_(?!typeof|size_pretty)|read_|parquet_|sniff_|arrow_|enable_|disable_|' +
    'icu_|st_|__internal|current_(?!date|localtime)|has_|inet_|json_(execute|(de)?serialize))',
);

describe('the functions of the database', () => {
  it('are allowed by name, and each name that is allowed is one', async () => {
    const known = new Set(await namesOf("function_type <> 'pragma'"));
    // Made by the parser, or known to it alone.
    const syntax = ['->', 'if', 'ifnull', 'overlay', 'unnest'];
    const strangers = [...ALLOWED_FUNCTIONS].filter((name) => !known.has(name));
    expect(strangers.filter((name) => !syntax.includes(name))).toEqual([]);
    expect([...ALLOWED_FUNCTIONS].filter((name) => REACHING.test(name))).toEqual([]);
    const tables = await namesOf("function_type IN ('table', 'table_macro')");
    expect([...ALLOWED_TABLE_FUNCTIONS].filter((name) => !tables.includes(name))).toEqual([]);
  });

  it('that are not on the list are refused by name, everywhere in a statement', async () => {
    const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
    const scalars = await namesOf("function_type IN ('scalar', 'macro', 'aggregate')");
    const refused = scalars.filter((name) => !ALLOWED_FUNCTIONS.has(name));
    expect(refused.length).toBeGreaterThan(200);
    for (const name of refused) {
      const refusal = { code: 'REQUEST_INVALID', message: expect.stringContaining(`${name}()`) };
      await expect(check(`SELECT ${quoted(name)}(1)`), name).rejects.toMatchObject(refusal);
    }
    const tables = await namesOf("function_type IN ('table', 'table_macro', 'pragma')");
    const tablesRefused = tables.filter((name) => !ALLOWED_TABLE_FUNCTIONS.has(name));
    expect(tablesRefused.length).toBeGreaterThan(100);
    for (const name of tablesRefused) {
      const refusal = { code: 'REQUEST_INVALID', message: expect.stringContaining(`${name}()`) };
      await expect(check(`FROM ${quoted(name)}('x')`), name).rejects.toMatchObject(refusal);
      const inside = `SELECT 1 WHERE EXISTS (WITH t AS (FROM ${quoted(name)}()) FROM t)`;
      await expect(check(inside), name).rejects.toMatchObject(refusal);
    }
  });
});

describe('a statement', () => {
  it('may be any SELECT of the tables, of what it defines itself and of values', async () => {
    for (const sql of [
      'SELECT count(*), sum(a) FILTER (WHERE a > 1) FROM recalls GROUP BY ALL -- all of them;',
      'WITH t AS (FROM items), u AS (FROM t) SELECT * EXCLUDE (a) FROM u JOIN sets USING (a)',
      'WITH RECURSIVE t AS (SELECT 1 x UNION ALL SELECT x + 1 FROM t WHERE x < 5) FROM t',
      'FROM main.recalls SELECT max(a) OVER (ORDER BY a ROWS 3 PRECEDING) QUALIFY true',
      "SELECT a::VARCHAR LIKE 'x%', CASE WHEN a IN (1, 2) THEN a END, extract(year FROM now())",
      "SELECT '{\"a\":1}'::JSON->>'$.a', list_transform([1], lambda x: x + 1), {'a': 1}.a, [1][1]",
      'FROM recalls PIVOT (sum(a) FOR a IN (1, 2)); ',
      'PIVOT recalls ON a IN (1, 2) USING count(*)',
      'SELECT quantile_cont(a, 0.5), histogram(a) FROM recalls TABLESAMPLE 10%',
      'FROM range(3) t(i), unnest([i]) UNION SELECT 1, 2 ORDER BY ALL LIMIT 3',
      "SELECT DISTINCT ON (a) a, interval 3 day, date '2026-01-01' FROM recalls ASOF JOIN items " +
        'ON recalls.a >= items.a',
      'VALUES (1, 2)',
    ]) {
      await expect(check(sql.trim().replace(/;\s*$/, '')), sql).resolves.toBeUndefined();
    }
  });

  const refusals: readonly (readonly [string, string])[] = [
    ['DELETE FROM recalls', 'expected a SELECT, or PIVOT with IN (...), got another statement'],
    ['PIVOT recalls ON a USING count(*)', 'PIVOT with IN (...)'],
    ['FROM (PIVOT recalls ON a USING count(*))', 'PIVOT with IN (...)'],
    ["COPY (SELECT 1) TO '/tmp/out.csv'", 'expected a SELECT'],
    ["ATTACH '/tmp/other.db'", 'expected a SELECT'],
    ['SET threads = 8', 'expected a SELECT'],
    ['EXPLAIN ANALYZE SELECT 1', 'expected a SELECT'],
    ['PRAGMA force_checkpoint', 'expected a SELECT'],
    ['CALL force_checkpoint()', 'expected a SELECT'],
    ['SELECT 1; DROP TABLE recalls', 'expected a SELECT'],
    ['SELECT 1; SELECT 2', 'got 2 statements'],
    ['', 'got nothing'],
    ['SELEC 1', 'syntax error'],
    ['SELECT 1) TO x (FORMAT csv); --', 'syntax error'],
    ["select * from enable_logging('QueryLog', storage='file', storage_path='/tmp')", 'enable_log'],
    ['FROM force_checkpoint()', 'force_checkpoint()'],
    ["SELECT write_log('x')", 'write_log()'],
    ["SELECT getenv('HOME')", 'getenv()'],
    ["SELECT * FROM read_csv('/etc/passwd')", 'read_csv()'],
    ["SELECT * FROM glob('/*')", 'glob()'],
    ["FROM query('DELETE FROM recalls')", 'query()'],
    ["FROM query_table('duckdb_logs')", 'query_table()'],
    ['SELECT sleep_ms(1)', 'sleep_ms()'],
    ["SELECT current_setting('threads')", 'current_setting()'],
    ['SELECT other.sum(1)', 'other.sum()'],
    ["FROM '/etc/passwd'", "got '/etc/passwd'"],
    ["FROM 'x.csv'", "got 'x.csv'"],
    ['FROM duckdb_logs', "got 'duckdb_logs'"],
    ['FROM duckdb_settings()', 'duckdb_settings()'],
    ['FROM information_schema.tables', "got 'information_schema.tables'"],
    ['FROM other.main.recalls', "got 'other.main.recalls'"],
    ['DESCRIBE recalls', 'SHOW_REF'],
    ['SUMMARIZE recalls', 'SHOW_REF'],
    ['SHOW TABLES', 'SHOW_REF'],
    ['SELECT $1', 'VALUE_PARAMETER'],
    // A name of a WITH is known where it is, not beside it, and not in its own definition.
    ['WITH duckdb_logs AS (FROM duckdb_logs) FROM duckdb_logs', "got 'duckdb_logs'"],
    ['WITH a AS (FROM duckdb_logs), duckdb_logs AS (SELECT 1) FROM a', "got 'duckdb_logs'"],
    ['SELECT (WITH duckdb_logs AS (SELECT 1) FROM duckdb_logs) FROM duckdb_logs', "got 'duckdb_l"],
    ['WITH RECURSIVE duckdb_logs AS (FROM duckdb_logs) FROM duckdb_logs', "got 'duckdb_logs'"],
    [
      'WITH RECURSIVE t AS (FROM t UNION ALL FROM recalls) FROM t', // the first part knows no t
      "got 't'",
    ],
    ['SELECT 1e400', 'finite'],
    // Where a function may hide.
    ['SELECT count(*) FILTER (WHERE sleep_ms(1)) FROM recalls', 'sleep_ms()'],
    ['SELECT sum(a) OVER (PARTITION BY sleep_ms(1)) FROM recalls', 'sleep_ms()'],
    ['SELECT sum(a ORDER BY sleep_ms(1)) FROM recalls', 'sleep_ms()'],
    ['SELECT 1 LIMIT sleep_ms(1)', 'sleep_ms()'],
    ['SELECT 1 ORDER BY sleep_ms(1)', 'sleep_ms()'],
    ['SELECT DISTINCT ON (sleep_ms(1)) a FROM recalls', 'sleep_ms()'],
    ['SELECT * REPLACE (sleep_ms(1) AS a) FROM recalls', 'sleep_ms()'],
    ['SELECT list_transform([1], lambda x: sleep_ms(x))', 'sleep_ms()'],
    ['SELECT CASE WHEN true THEN sleep_ms(1) END', 'sleep_ms()'],
    ['FROM recalls JOIN items ON sleep_ms(1)', 'sleep_ms()'],
    ['FROM recalls QUALIFY sleep_ms(1)', 'sleep_ms()'],
    ['FROM recalls GROUP BY sleep_ms(1)', 'sleep_ms()'],
    ['FROM recalls HAVING sleep_ms(1)', 'sleep_ms()'],
    ['VALUES (sleep_ms(1))', 'sleep_ms()'],
    ['FROM range(sleep_ms(1))', 'sleep_ms()'],
    ['SELECT [sleep_ms(1)]', 'sleep_ms()'],
    ['SELECT (SELECT sleep_ms(1))', 'sleep_ms()'],
    ['SELECT a IN (SELECT sleep_ms(1)) FROM recalls', 'sleep_ms()'],
    ['SELECT 1 UNION SELECT sleep_ms(1)', 'sleep_ms()'],
    ['FROM recalls PIVOT (sum(sleep_ms(a)) FOR a IN (1, 2))', 'sleep_ms()'],
  ];

  it.each(refusals)('%j is refused', async (sql, reason) => {
    await expect(check(sql)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'sql',
      message: expect.stringContaining(reason),
    });
  });
});
