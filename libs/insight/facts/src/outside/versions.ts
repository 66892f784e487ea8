import type { DuckDBConnection } from '@duckdb/node-api';
import { tableDefinition } from '../domain/fact-tables.js';

/** A version that serves or served. */
export interface VersionRow {
  readonly timeMs: number;
  readonly kind: 'model' | 'adapter' | 'template';
  readonly digest: string;
  readonly name: string;
  readonly state: string;
  readonly parent: string;
}

/** Versions by the time at which each state of them was seen first. */
export class Versions {
  isDirty = true;

  private constructor(private readonly connection: DuckDBConnection) {}

  static async open(connection: DuckDBConnection): Promise<Versions> {
    await connection.run(tableDefinition('version', 'state.'));
    return new Versions(connection);
  }

  /** Notes rows whose newest state is another one. */
  async note(rows: readonly VersionRow[]): Promise<void> {
    for (const { timeMs, kind, digest, name, state, parent } of rows) {
      const reader = await this.connection.runAndReadAll(
        'SELECT state FROM state.version WHERE kind = $1 AND digest = $2 AND name = $3 ' +
          'ORDER BY time DESC LIMIT 1',
        [kind, digest, name],
      );
      if (reader.getRowsJson()[0]?.[0] === state) continue;
      await this.connection.run(
        'INSERT INTO state.version VALUES (make_timestamp_ms($1::BIGINT), $2, $3, $4, $5, $6)',
        [BigInt(timeMs), kind, digest, name, state, parent],
      );
      this.isDirty = true;
    }
  }
}
