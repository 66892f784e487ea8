/** Answers that are a table, as the pages read them. */
export type { TableColumn, TableName, TablePage, TableRow } from '@tessera/analysis';
