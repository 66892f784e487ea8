/** Arrow files of exports, read by another implementation of the format. */

import { readFileSync } from 'node:fs';
import { temporaryFolder } from '@tessera/testing';
import { type ExtractionOptions, tableFromIPC } from '@uwdata/flechette';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { childrenOf, type OpenedStore, openedStore } from './fixture/opened-store.js';

const LIMITS = { rowsMax: 10_000_000, timeoutMs: 120_000 };
const MEMORY = 96 * 2 ** 20;
const folder = temporaryFolder({});
let opened: OpenedStore;

beforeAll(async () => {
  opened = await openedStore(folder.path, { memoryBytes: MEMORY, diskBytes: 2 ** 29 });
});

afterAll(async () => {
  await opened.close();
  folder.remove();
});

const READ: ExtractionOptions = { useBigInt: true, useMap: true, useDecimalInt: true };

async function table(sql: string) {
  const file = await opened.store.exportTo(sql, 'arrow', LIMITS);
  const bytes = readFileSync(file.path);
  await file.release();
  return { bytes, rows: tableFromIPC(bytes, READ) };
}

/** Text of a type in SQL, a value of it in SQL, and what a reader of Arrow makes of that. */
const VALUES: readonly (readonly [string, string, unknown])[] = [
  ['BOOLEAN', 'true', true],
  ['TINYINT', '-128', -128],
  ['SMALLINT', '-32768', -32_768],
  ['INTEGER', '-2147483648', -2_147_483_648],
  ['BIGINT', '-9223372036854775807', -9_223_372_036_854_775_807n],
  ['UTINYINT', '255', 255],
  ['USMALLINT', '65535', 65_535],
  ['UINTEGER', '4294967295', 4_294_967_295],
  ['UBIGINT', '18446744073709551615', 18_446_744_073_709_551_615n],
  ['HUGEINT', '-170141183460469231731687303715884105', -170141183460469231731687303715884105n],
  ['FLOAT', '0.25', 0.25],
  ['DOUBLE', '-1.5e300', -1.5e300],
  ['DECIMAL(4, 1)', '-12.5', -125n],
  ['DECIMAL(9, 3)', '123456.789', 123_456_789n],
  [
    'DECIMAL(38, 2)',
    '-123456789012345678901234567890123456.78',
    -12345678901234567890123456789012345678n,
  ],
  ['VARCHAR', "'京都 =1+1'", '京都 =1+1'],
  ['BLOB', "'\\xAA\\x00'", new Uint8Array([0xaa, 0])],
  ['DATE', "'1969-12-31'", Date.UTC(1969, 11, 31)],
  ['TIME', "'01:02:03.000004'", 3_723_000_004n],
  ['TIMESTAMP', "'2026-11-25 12:34:56.789'", Date.UTC(2026, 10, 25, 12, 34, 56, 789)],
  ['TIMESTAMP_S', "'2026-11-25 12:34:56'", Date.UTC(2026, 10, 25, 12, 34, 56)],
  ['TIMESTAMP_MS', "'2026-11-25 12:34:56.789'", Date.UTC(2026, 10, 25, 12, 34, 56, 789)],
  ['TIMESTAMP_NS', "'2026-11-25 12:34:56.5'", Date.UTC(2026, 10, 25, 12, 34, 56, 500)],
  ['TIMESTAMPTZ', "'2026-11-25 12:34:56+02'", Date.UTC(2026, 10, 25, 10, 34, 56)],
  ['UUID', "'0b9f1f5e-3b7a-4a0e-9f0e-6f1a2b3c4d5e'", '0b9f1f5e-3b7a-4a0e-9f0e-6f1a2b3c4d5e'],
  ['INTERVAL', "'3 days'", '3 days'],
  ["ENUM ('a', 'b')", "'b'", 'b'],
  ['JSON', `'{"a": 1}'`, '{"a": 1}'],
  ['VARCHAR[]', "['x', NULL, '']", ['x', null, '']],
  ['BIGINT[][]', '[[1, 2], NULL, []]', [[1n, 2n], null, []]],
  ['INTEGER[2]', '[7, 8]', [7, 8]],
  [
    'MAP(VARCHAR, VARCHAR)',
    "MAP {'daypart': 'am', 'os': ''}",
    new Map([
      ['daypart', 'am'],
      ['os', ''],
    ]),
  ],
  ['STRUCT(n BIGINT, t TIMESTAMP)', "{'n': 5, 't': NULL}", { n: 5n, t: null }],
];

const plain = (value: unknown): unknown => {
  if (ArrayBuffer.isView(value) && !(value instanceof Uint8Array)) {
    return Array.from(value as unknown as ArrayLike<unknown>, plain);
  }
  // Of the reader: a view of the file.
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (Array.isArray(value)) return value.map(plain);
  return value;
};

it.each(VALUES)('hold a %s as it is, and its absence', async (type, value, expected) => {
  const { rows } = await table(
    `SELECT one FROM range(5000) t(n)
     LEFT JOIN (SELECT 0 AS none, (${value})::${type} AS one) ON n % 3 <> 1 ORDER BY n`,
  );
  const found = rows.getChild('one')?.toArray() ?? [];
  expect(rows.numRows).toBe(5000);
  expect(plain(found[0])).toEqual(expected);
  expect(plain(found[4998])).toEqual(expected);
  expect(
    Array.from(found, (one) => one === null)
      .map(Number)
      .join(''),
  ).toBe(Array.from({ length: 5000 }, (_, index) => (index % 3 === 1 ? 1 : 0)).join(''));
});

it('hold the rows that JSON has, in their order, over many batches', async () => {
  const sql = `SELECT n, n * 0.1 AS tenth, list_value(n, n % 7) AS pair, 'v' || n AS text,
    MAP {'k' || (n % 3): CASE WHEN n % 2 = 0 THEN NULL ELSE n END} AS map FROM range(6000) t(n)`;
  const { rows } = await table(sql);
  const json = JSON.parse(
    Buffer.from(await opened.store.query(`${sql} LIMIT 5`, LIMITS)).toString(),
  ).columns.map(({ name }: { name: string }) => name);
  expect(rows.schema.fields.map(({ name }) => name)).toEqual(json);
  const found = rows.toArray() as Record<string, unknown>[];
  for (const n of [0, 2047, 2048, 5999]) {
    expect(found[n]?.n).toBe(BigInt(n));
    expect(plain(found[n]?.pair)).toEqual([BigInt(n), BigInt(n % 7)]);
    expect(found[n]?.text).toBe(`v${n}`);
    expect(found[n]?.map).toEqual(new Map([[`k${n % 3}`, n % 2 === 0 ? null : BigInt(n)]]));
  }
});

it('have columns where there are no rows', async () => {
  const { rows } = await table('SELECT 1 AS a, [1.5] AS b WHERE 1 = 0');
  expect([rows.numRows, rows.schema.fields.map(({ name }) => name)]).toEqual([0, ['a', 'b']]);
});

it('leave behind them a process that has the memory of one more', async () => {
  const [spare = ''] = childrenOf(String(opened.store.launcherProcessId));
  const number = (file: string, line: RegExp) =>
    Number(line.exec(readFileSync(`/proc/${spare}/${file}`, 'utf8'))?.[1]);
  const limit = number('limits', /^Max data size\s+(\d+)/m);
  const held = number('status', /^VmData:\s*(\d+) kB$/m) * 1024;
  expect(limit - held).toBeGreaterThan(MEMORY);
});

it('may be larger than the memory of the query', async () => {
  const { bytes, rows } = await table(
    "SELECT n, repeat('x', 250) || n AS text FROM range(900000) t(n)",
  );
  expect(bytes.length).toBeGreaterThan(2 * MEMORY);
  expect(rows.numRows).toBe(900_000);
  expect(rows.getChild('text')?.at(899_999)).toBe(`${'x'.repeat(250)}899999`);
});
