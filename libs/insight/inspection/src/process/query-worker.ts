import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { TesseraError } from '@tessera/errors';
import { factFolders, READ_TABLES, viewStatements } from '@tessera/facts';
import { type Channel, dataBytesLeft, endProcess, sendAll, sentError } from '@tessera/processes';
import { MEBIBYTE } from '@tessera/units';
import { checkStatement, sqlRefusal } from '../domain/check-statement.js';
import { described } from '../domain/describe-statement.js';
import { SHELF_TABLES, shelfStatements } from '../outside/shelf-views.js';
import { writeArrow } from './arrow-file.js';
import { spreadsheet } from './csv-cells.js';
import type { QueryEnd, QueryOrder, QueryReply } from './messages.js';

type Ask = Extract<QueryOrder, { kind: 'ask' }>;

/** Tables that analysts may read. */
const EVERY_TABLE = new Set([...SHELF_TABLES, ...READ_TABLES.map(({ name }) => name)]);

/** Part of the memory that the database plans with; the rest is for what it does not count. */
const PLANNED_SHARE = 0.6;

type Data = Extract<QueryOrder, { kind: 'data' }>;
/** Threads of an analyst's question once it runs. */
const THREADS = '2';

/**
 * The other end of `Queries`: one query, in a process that is ended when the answer has been
 * fetched, when its time is over or when nobody wants it any more. It holds the statement against
 * what is allowed before it learns where the data lies.
 */
export function serveQuery(channel: Channel): void {
  const worker = new QueryWorker();
  channel.on('disconnect', endProcess);
  channel.on('message', (message: unknown) => {
    const order = message as QueryOrder;
    if (order.kind === 'warm') {
      void import('@duckdb/node-api');
      return;
    }
    const reply = order.kind === 'ask' ? worker.allow(order) : worker.answer(order);
    reply
      .catch((thrown: unknown) => worker.ended({ kind: 'refused', error: sentError(thrown) }))
      .then((answer) => sendAll(channel, answer))
      .catch(endProcess);
  });
}

class QueryWorker {
  private asked: Ask | undefined;

  async allow(ask: Ask): Promise<QueryReply> {
    if (ask.isOwn) {
      this.asked = ask;
      return { kind: 'allowed' };
    }
    const sql = statementOf(ask.statements[0] ?? '');
    const shown = described(sql, EVERY_TABLE);
    if (shown === undefined) await check(sql);
    this.asked = { ...ask, statements: [shown ?? sql] };
    return { kind: 'allowed' };
  }

  async answer(data: Data): Promise<QueryReply> {
    const ask = this.asked;
    if (ask === undefined) throw new TesseraError('INTERNAL', 'expected a query before its data');
    return this.ended(await this.endOf(ask, data));
  }

  /** The last word on a query, said when its database is closed. */
  ended(end: QueryEnd): QueryReply {
    return { ...end, hasRoom: dataBytesLeft() >= (this.asked?.memoryBytes ?? 0) };
  }

  private async endOf(ask: Ask, data: Data): Promise<QueryEnd> {
    let opened: { instance: DuckDBInstance; connection: DuckDBConnection } | undefined;
    try {
      opened = await openData(ask, data);
      const { connection } = opened;
      if (ask.form === 'rows') return { kind: 'answered', json: await allRows(connection, ask) };
      if (ask.form === 'json') return { kind: 'answered', json: await jsonAnswer(connection, ask) };
      return { kind: 'exported', path: await exported(connection, ask, data.folder) };
    } catch (thrown) {
      throw refusalOf(thrown, ask);
    } finally {
      opened?.connection.closeSync();
      opened?.instance.closeSync();
    }
  }
}

/** A statement is parsed by the database itself, in an instance that has no data. */
async function check(sql: string): Promise<void> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  try {
    const found = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
    checkStatement(String(found.getRows()[0]?.[0]), EVERY_TABLE);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

function statementOf(sql: string): string {
  return sql.trim().replace(/;\s*$/, '');
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Nothing but its own folder and what queries read can be reached, and nothing else written. */
async function openData(ask: Ask, { folder, place }: Data) {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', {
    threads: THREADS,
    memory_limit: `${Math.floor((ask.memoryBytes * PLANNED_SHARE) / MEBIBYTE)}MiB`,
    temp_directory: join(folder, 'spilled'),
    max_temp_directory_size: `${Math.floor(ask.diskBytes / MEBIBYTE)}MiB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  const read = [folder, place.shelf, ...factFolders(place.folder)];
  const folders = read.map((path) => quoted(`${path}/`));
  await connection.run(`SET allowed_directories = [${folders.join(', ')}]`);
  // The machine's own zone otherwise, in which now() is compared with times of facts.
  await connection.run("SET TimeZone = 'UTC'");
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  const facts = viewStatements(place.folder, place.sceneKeys);
  for (const view of [...facts, ...shelfStatements(place.shelf)]) await connection.run(view);
  return { instance, connection };
}

/** The rows of each statement, as one JSON array of arrays. */
async function allRows(connection: DuckDBConnection, ask: Ask): Promise<Uint8Array> {
  const answers: string[] = [];
  for (const statement of ask.statements) {
    const reader = await connection.runAndReadAll(statement);
    answers.push(JSON.stringify(reader.getRowObjectsJson()));
  }
  return Buffer.from(`[${answers.join(',')}]`);
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

/**
 * A QueryResult as text, cut by rows and by bytes. Of a result that is whole before it is read: a
 * stream that fails, for want of memory say, looks like one that has ended.
 */
async function jsonAnswer(connection: DuckDBConnection, ask: Ask): Promise<Uint8Array> {
  const began = Date.now();
  // On lines of its own: it may end in a comment.
  const rowsAsked = `SELECT * FROM (\n${ask.statements[0]}\n) LIMIT ${ask.rowsMax + 1}`;
  const result = await connection.run(rowsAsked);
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
  const waitedMs = began - ask.askedMs;
  const head = JSON.stringify({ columns, isCut, waitedMs, milliseconds: Date.now() - began });
  return Buffer.from(`${head.slice(0, -1)},"rows":[${rows.join(',')}]}`);
}

async function exported(connection: DuckDBConnection, ask: Ask, folder: string): Promise<string> {
  const path = join(folder, `export.${ask.form}`);
  // On lines of its own: it may end in a comment.
  const rows = `SELECT * FROM (\n${ask.statements[0]}\n) LIMIT ${ask.rowsMax}`;
  if (ask.form === 'arrow') {
    await writeArrow(connection, rows, path);
    return path;
  }
  const isCsv = ask.form === 'csv';
  const { source, options } = isCsv
    ? await spreadsheet(connection, rows)
    : { source: rows, options: 'FORMAT parquet, COMPRESSION zstd' };
  await connection.run(`COPY (${source}) TO '${path.replaceAll("'", "''")}' (${options})`);
  return path;
}
