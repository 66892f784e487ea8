import type { AnalysisFilter } from '../../domain/filter.js';
import type { TableName, TablePage } from '../../domain/table-page.js';
import type { Asking } from '../question.js';
import { arrivals } from './arrivals.js';
import { bids } from './bids.js';
import { calibration } from './calibration.js';
import { exploration } from './exploration.js';
import { spend } from './spend.js';
import type { TableWanted } from './table.js';

type Question = (asking: Asking, filter: AnalysisFilter, wanted: TableWanted) => Promise<TablePage>;

/** Questions whose answer is a table, by the names of their paths. */
export const TABLES: Readonly<Record<TableName, Question>> = {
  bids,
  spend,
  arrivals,
  exploration,
  calibration,
};
