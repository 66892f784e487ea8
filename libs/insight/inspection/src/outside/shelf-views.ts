import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SHELF_FOLDERS } from './analyst-shelf.js';

/** Type of each member of the files' JSON, and the columns that they are to SQL. */
const TABLES = {
  notes: {
    members: { id: 'VARCHAR', recallId: 'VARCHAR', author: 'VARCHAR', text: 'VARCHAR' },
    columns: 'k.id AS id, k.recallId AS recall, TIME, k.author AS author, k.text AS text',
  },
  sets: {
    members: { name: 'VARCHAR', author: 'VARCHAR', recallIds: ['VARCHAR'] },
    columns: 'k.name AS name, TIME, k.author AS author, k.recallIds AS recalls',
  },
  comparisons: {
    members: {
      id: 'VARCHAR',
      author: 'VARCHAR',
      title: 'VARCHAR',
      userCount: 'UINTEGER',
      overlap: 'FLOAT',
      userIds: ['VARCHAR'],
      detail: 'VARCHAR',
    },
    columns:
      'k.id AS id, TIME, k.author AS author, k.title AS title, k.userCount AS user_count, ' +
      'k.overlap AS overlap, k.userIds AS users, k.detail AS detail',
  },
} as const;

export const SHELF_TABLES: readonly string[] = SHELF_FOLDERS;

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Statements that make the tables of the shelf in a connection: views over its files. */
export function shelfStatements(folder: string): string[] {
  return SHELF_FOLDERS.map((name) => {
    const { members, columns } = TABLES[name];
    const shape = JSON.stringify({ timeMs: 'BIGINT', ...members });
    const at = join(folder, name);
    const files = existsSync(at) ? readdirSync(at).filter((file) => file.endsWith('.json')) : [];
    const paths = files.map((file) => quoted(join(at, file)));
    const texts =
      paths.length === 0
        ? "(SELECT '' AS content WHERE false)"
        : `read_text([${paths.join(', ')}])`;
    // A crash may leave a file of zeros.
    const whole = `${texts} WHERE json_valid(content)`;
    const rows = `SELECT from_json(content, '${shape}') AS k FROM ${whole}`;
    const timed = columns.replace('TIME', 'make_timestamp_ms(k.timeMs) AS time');
    return `CREATE TEMP VIEW ${name} AS SELECT ${timed} FROM (${rows})`;
  });
}
