import { FACT_TABLES, type FactTableName, tableDefinition } from '../domain/fact-tables.js';
import { tableFiles } from './fact-folder.js';

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const named = (name: string) => `"${name.replaceAll('"', '""')}"`;

const source = (files: readonly string[]) => `read_parquet([${files.map(quoted).join(', ')}])`;

/**
 * Statements that make the tables of facts in a connection: views over the files that are there,
 * and empty tables where there is none.
 * @param sceneKeys keys of scenes that become columns of `recall_fact`
 */
export function viewStatements(folder: string, sceneKeys: readonly string[]): string[] {
  return FACT_TABLES.flatMap(({ name }) => {
    const files = tableFiles(folder, name);
    const empty = tableDefinition(name).replace('CREATE TABLE', 'CREATE TEMP TABLE');
    if (name !== 'recall_fact') return [files.length === 0 ? empty : view(name, source(files))];
    const scenes = sceneKeys.map((key) => `, scene[${quoted(key)}] AS ${named(`scene_${key}`)}`);
    const of = (rows: string) => `SELECT *${scenes.join('')} FROM ${rows}`;
    const rows = tableDefinition(name).replace(`EXISTS ${name}`, 'EXISTS recall_fact_none');
    const none = rows.replace('CREATE TABLE', 'CREATE TEMP TABLE');
    return [none, view(name, of(files.length === 0 ? 'recall_fact_none' : source(files)), true)];
  });
}

function view(name: FactTableName, rows: string, isQuery = false): string {
  return `CREATE TEMP VIEW ${name} AS ${isQuery ? rows : `SELECT * FROM ${rows}`}`;
}
