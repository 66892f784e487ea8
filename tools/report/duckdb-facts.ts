import { DuckDBInstance } from '@duckdb/node-api';
import { type AnalysisStore, DUCKDB, type Row } from '@tessera/analysis';
import { OPEN_RECALLS, ROLLED_RECALLS, viewStatements } from '@tessera/facts';

/** A folder of facts in a database of this process. */
export async function duckdbFacts(folder: string): Promise<AnalysisStore> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  for (const statement of viewStatements(folder, [])) await connection.run(statement);
  return {
    dialect: DUCKDB,
    hours: async () => ({ rolled: ROLLED_RECALLS, open: OPEN_RECALLS }),
    rows: async (statements) => {
      const answers: (readonly Row[])[] = [];
      for (const statement of statements) {
        const reader = await connection.runAndReadAll(statement);
        answers.push(reader.getRowObjectsJson() as unknown as Row[]);
      }
      return answers;
    },
  };
}
