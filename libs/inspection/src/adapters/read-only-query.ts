import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { TesseraError } from '@tessera/errors';
import type { ExportFormat, QueryLimits, QueryResult } from '../domain/inspection-store.js';

export const SQL_LENGTH_MAX = 20_000;

/** A refusal of the SQL that an analyst wrote. */
function refusal(reason: string, cause?: unknown): TesseraError {
  return new TesseraError('REQUEST_INVALID', `sql: ${reason}`, { field: 'sql', cause });
}

/**
 * Questions of analysts, each on a connection of its own, so that one can be interrupted. They
 * reach no file: the instance is opened without access to any but its own.
 */
export class ReadOnlyQueries {
  constructor(
    private readonly instance: DuckDBInstance,
    private readonly exportFolder: string,
  ) {}

  async query(sql: string, limits: QueryLimits): Promise<QueryResult> {
    const began = performance.now();
    return this.asked(sql, limits, async (connection, text) => {
      const reader = await connection.streamAndReadUntil(text, limits.rowsMax + 1);
      const names = reader.columnNames();
      const types = reader.columnTypes();
      const rows = reader.getRowsJson();
      return {
        columns: names.map((name, index) => ({ name, type: String(types[index]) })),
        rows: rows.slice(0, limits.rowsMax),
        isCut: rows.length > limits.rowsMax,
        milliseconds: performance.now() - began,
      };
    });
  }

  async exportTo(sql: string, format: ExportFormat, limits: QueryLimits): Promise<string> {
    return this.asked(sql, limits, async (connection, text) => {
      const path = join(this.exportFolder, `${randomUUID()}.${format}`);
      const options = format === 'csv' ? 'FORMAT csv, HEADER' : 'FORMAT parquet, COMPRESSION zstd';
      // On lines of its own: it may end in a comment.
      const rows = `SELECT * FROM (\n${text}\n) LIMIT ${limits.rowsMax}`;
      await connection.run(`COPY (${rows}) TO '${path.replaceAll("'", "''")}' (${options})`);
      return path;
    });
  }

  private async asked<Answer>(
    sql: string,
    { timeoutMs }: QueryLimits,
    ask: (connection: DuckDBConnection, text: string) => Promise<Answer>,
  ): Promise<Answer> {
    if (sql.length > SQL_LENGTH_MAX) {
      throw refusal(`expected at most ${SQL_LENGTH_MAX} characters, came ${sql.length}`);
    }
    const text = sql.trim().replace(/;\s*$/, '');
    const connection = await this.instance.connect();
    const late = setTimeout(() => connection.interrupt(), timeoutMs);
    try {
      await checkReads(connection, text);
      return await ask(connection, text);
    } catch (thrown) {
      if (thrown instanceof TesseraError) throw thrown;
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      if (reason.includes('INTERRUPT')) {
        const message = `sql: expected an answer within ${timeoutMs} ms, came none`;
        throw new TesseraError('DEADLINE_EXCEEDED', message, { field: 'sql', cause: thrown });
      }
      throw refusal(reason, thrown);
    } finally {
      clearTimeout(late);
      connection.closeSync();
    }
  }
}

/** Told by the database's own parser: what reads is one statement, and a SELECT. */
async function checkReads(connection: DuckDBConnection, text: string): Promise<void> {
  if (text === '') throw refusal('expected one SELECT, came nothing');
  const statements = await connection.extractStatements(text);
  if (statements.count !== 1) {
    throw refusal(`expected one SELECT, came ${statements.count} statements`);
  }
  const prepared = await statements.prepare(0);
  const { statementType } = prepared;
  prepared.destroySync();
  const { StatementType } = await import('@duckdb/node-api');
  if (statementType === StatementType.SELECT) return;
  throw refusal(`expected a SELECT, came ${StatementType[statementType] ?? 'another statement'}`);
}
