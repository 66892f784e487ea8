import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { OPEN_RECALLS, ROLLED_RECALLS, viewStatements } from '@tessera/facts';
import type { AnalysisStore, HourSources, Row } from '../domain/analysis-store.js';
import { DUCKDB } from '../domain/dialect.js';

/** A folder of facts in a database of this process, for programs that have nothing else to do. */
export class DuckdbStore implements AnalysisStore {
  readonly dialect = DUCKDB;

  /** @param settings of the database, e.g. threads; left out: its own */
  static async open(folder: string, settings?: Record<string, string>): Promise<DuckdbStore> {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:', settings);
    const connection = await instance.connect();
    for (const statement of viewStatements(folder, [])) await connection.run(statement);
    return new DuckdbStore(instance, connection);
  }

  private constructor(
    private readonly instance: DuckDBInstance,
    private readonly connection: DuckDBConnection,
  ) {}

  async rows(statements: readonly string[]): Promise<readonly (readonly Row[])[]> {
    const answers: (readonly Row[])[] = [];
    for (const statement of statements) {
      const reader = await this.connection.runAndReadAll(statement);
      answers.push(reader.getRowObjectsJson() as unknown as Row[]);
    }
    return answers;
  }

  async hours(): Promise<HourSources> {
    return { rolled: ROLLED_RECALLS, open: OPEN_RECALLS };
  }

  close(): void {
    this.connection.closeSync();
    this.instance.closeSync();
  }
}
