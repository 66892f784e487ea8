import { basename } from 'node:path';
import { rolledHours } from '../domain/fact-files.js';
import {
  FACT_TABLES,
  type FactTableName,
  ITEM_NOW,
  STILL_SEQ,
  tableDefinition,
} from '../domain/fact-tables.js';
import { RECORDED_ITEMS, RECORDED_ITEMS_QUERY } from '../domain/recorded-tables.js';
import { parquetOf, quoted, tableFiles } from './fact-folder.js';

const named = (name: string) => `"${name.replaceAll('"', '""')}"`;
/** Recalls that `item_hour` has, and those that it has not. */
export const ROLLED_RECALLS = 'recall_fact_rolled';
export const OPEN_RECALLS = 'recall_fact_open';

/** Empty tables: every column is there, whatever files there are. */
const nothing = (name: FactTableName) => `none_${name}`;

function source(name: FactTableName, files: readonly string[]): string {
  if (files.length === 0) return nothing(name);
  return `(FROM ${nothing(name)} UNION ALL BY NAME FROM ${parquetOf(files)})`;
}

/**
 * Statements that make the tables of facts in a connection: views over the files that are there.
 * @param sceneKeys keys of scenes that become columns of `recall_fact`
 */
export function viewStatements(folder: string, sceneKeys: readonly string[]): string[] {
  const statements = FACT_TABLES.flatMap(({ name }) => {
    const empty = tableDefinition(name).replace(`EXISTS ${name}`, `EXISTS ${nothing(name)}`);
    const scenes = name === 'recall_fact' ? sceneKeys.map(sceneColumn) : [];
    const rows = source(name, tableFiles(folder, name));
    return [
      empty.replace('CREATE TABLE', 'CREATE TEMP TABLE'),
      `CREATE TEMP VIEW ${name} AS SELECT *${scenes.join('')} FROM ${rows}`,
    ];
  });
  const isRolled = rolledHours(tableFiles(folder, 'item_hour').map((path) => basename(path)));
  const recalls = tableFiles(folder, 'recall_fact');
  const part = (view: string, files: readonly string[]) =>
    `CREATE TEMP VIEW ${view} AS SELECT * FROM ${source('recall_fact', files)}`;
  return [
    ...statements,
    `CREATE TEMP VIEW ${ITEM_NOW.name} AS SELECT * FROM item_version WHERE to_seq = ${STILL_SEQ}`,
    `CREATE TEMP VIEW ${RECORDED_ITEMS.name} AS ${RECORDED_ITEMS_QUERY}`,
    part(
      ROLLED_RECALLS,
      recalls.filter((path) => isRolled(basename(path))),
    ),
    part(
      OPEN_RECALLS,
      recalls.filter((path) => !isRolled(basename(path))),
    ),
  ];
}

function sceneColumn(key: string): string {
  return `, scene[${quoted(key)}] AS ${named(`scene_${key}`)}`;
}
