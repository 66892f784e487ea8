import { dirname, join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { TesseraError } from '@tessera/errors';
import { type Channel, endProcess, sendAll, sentError } from '@tessera/processes';
import { MEBIBYTE } from '@tessera/units';
import { checkStatement, sqlRefusal } from '../domain/check-statement.js';
import { TABLE_NAMES } from '../outside/duckdb-tables.js';
import { spreadsheetSafe } from './csv-cells.js';
import type { QueryOrder, QueryReply } from './messages.js';

type Ask = Extract<QueryOrder, { kind: 'ask' }>;

/** Part of the memory that the database plans with; the rest is for what it does not count. */
const PLANNED_SHARE = 0.6;

/**
 * The other end of `Queries`: one query, in a process that is ended when the answer has been
 * fetched, when its time is over or when nobody wants it any more. It holds the statement against
 * what is allowed before it learns where the data lies.
 */
export function serveQuery(channel: Channel): void {
  let asked: Ask | undefined;
  channel.on('disconnect', endProcess);
  channel.on('message', (message: unknown) => {
    const order = message as QueryOrder;
    const reply = order.kind === 'ask' ? allowed(order) : answered(asked, order.path);
    if (order.kind === 'ask') asked = order;
    reply
      .catch((thrown: unknown): QueryReply => ({ kind: 'refused', error: sentError(thrown) }))
      .then((answer) => sendAll(channel, answer))
      .catch(endProcess);
  });
}

/** Parsed by the database itself, in an instance that has no data. */
async function allowed({ sql }: Ask): Promise<QueryReply> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  try {
    const found = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [
      statementOf(sql),
    ]);
    checkStatement(String(found.getRows()[0]?.[0]), TABLE_NAMES);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
  return { kind: 'allowed' };
}

function statementOf(sql: string): string {
  return sql.trim().replace(/;\s*$/, '');
}

async function openSnapshot(ask: Ask, path: string) {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const folder = dirname(path);
  const instance = await DuckDBInstance.create(path, {
    access_mode: 'READ_ONLY',
    threads: '1',
    memory_limit: `${Math.floor((ask.memoryBytes * PLANNED_SHARE) / MEBIBYTE)}MiB`,
    temp_directory: join(folder, 'spilled'),
    max_temp_directory_size: `${Math.floor(ask.diskBytes / MEBIBYTE)}MiB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  const text = `${folder}/`.replaceAll("'", "''");
  await connection.run(`SET allowed_directories = ['${text}']`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  return { instance, connection };
}

async function answered(ask: Ask | undefined, path: string): Promise<QueryReply> {
  if (ask === undefined) throw new TesseraError('INTERNAL', 'expected a query before its data');
  let opened: { instance: DuckDBInstance; connection: DuckDBConnection } | undefined;
  try {
    opened = await openSnapshot(ask, path);
    const { connection } = opened;
    if (ask.form === 'json') return { kind: 'answered', json: await jsonAnswer(connection, ask) };
    return { kind: 'exported', path: await exported(connection, ask, dirname(path)) };
  } catch (thrown) {
    throw refusalOf(thrown, ask);
  } finally {
    opened?.connection.closeSync();
    opened?.instance.closeSync();
  }
}

function refusalOf(thrown: unknown, { memoryBytes, diskBytes }: Ask): TesseraError {
  if (thrown instanceof TesseraError) return thrown;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  if (/out of memory|bad_?alloc|max_temp_directory_size|file too large/i.test(reason)) {
    const message =
      `sql: expected a query that takes at most ${memoryBytes} bytes of memory and ${diskBytes} ` +
      `of disk, got one that takes more: ${reason.split('\n', 1)[0]}`;
    return new TesseraError('QUERY_TOO_LARGE', message, { field: 'sql', cause: thrown });
  }
  return sqlRefusal(reason, thrown);
}

/** A QueryResult as text, cut by rows and by bytes. */
async function jsonAnswer(connection: DuckDBConnection, ask: Ask): Promise<Uint8Array> {
  const began = performance.now();
  const result = await connection.stream(statementOf(ask.sql));
  const types = result.columnTypes().map(String);
  const columns = result.columnNames().map((name, index) => ({ name, type: types[index] ?? '' }));
  const rows: string[] = [];
  let bytes = 0;
  let isCut = false;
  for await (const chunk of result.yieldRowsJson()) {
    for (const row of chunk) {
      const text = JSON.stringify(row);
      bytes += Buffer.byteLength(text);
      isCut = rows.length >= ask.rowsMax || bytes > ask.answerBytesMax;
      if (isCut) break;
      rows.push(text);
    }
    if (isCut) break;
  }
  const head = JSON.stringify({ columns, isCut, milliseconds: performance.now() - began });
  return Buffer.from(`${head.slice(0, -1)},"rows":[${rows.join(',')}]}`);
}

async function exported(connection: DuckDBConnection, ask: Ask, folder: string): Promise<string> {
  const path = join(folder, `export.${ask.form}`);
  // On lines of its own: it may end in a comment.
  const rows = `SELECT * FROM (\n${statementOf(ask.sql)}\n) LIMIT ${ask.rowsMax}`;
  const isCsv = ask.form === 'csv';
  const source = isCsv ? await spreadsheetSafe(connection, rows) : rows;
  const options = isCsv ? 'FORMAT csv, HEADER' : 'FORMAT parquet, COMPRESSION zstd';
  await connection.run(`COPY (${source}) TO '${path.replaceAll("'", "''")}' (${options})`);
  return path;
}
