/** Keys of what lets analysts look into recalls. */

import { z } from 'zod';
import { integer, oneOf, text } from './schema-fields.js';

const MEBIBYTE = 2 ** 20;
const GIBIBYTE = 2 ** 30;
const BYTES_MAX = 2 ** 50;
const QUEUE_MAX = 1_000_000;
const HOURS_MAX = 24 * 3660;
const SECONDS_MAX = 3600;
const ROWS_MAX = 100_000_000;

export const inspectionSchema = z.strictObject({
  path: text('data/inspection', 'folder of recorded recalls; empty: none are recorded'),
  percent: integer(0, 100, 10, 'of the recalls, how many are recorded beside those asked for'),
  users: text('', 'users whose recalls are all recorded, separated by commas'),
  queueMax: integer(1, QUEUE_MAX, 1000, 'recalls that wait to be recorded at most; others are not'),
  memoryBytes: integer(
    32 * MEBIBYTE,
    BYTES_MAX,
    256 * MEBIBYTE,
    'bytes of memory that the database of recorded recalls may take',
  ),
  keepHours: integer(1, HOURS_MAX, 168, 'hours after which a recorded recall is removed'),
  keepBytes: integer(
    MEBIBYTE,
    BYTES_MAX,
    2 * GIBIBYTE,
    'bytes of recorded recalls beyond which the oldest are removed',
  ),
});

export const consoleSchema = z.strictObject({
  pages: oneOf(['on', 'off'], 'on', 'serve the console to analysts, under /console'),
  sqlSeconds: integer(1, SECONDS_MAX, 10, 'seconds that a question in SQL may take'),
  sqlRowsMax: integer(1, 100_000, 1000, 'rows that a question in SQL is answered with at most'),
  exportSeconds: integer(1, SECONDS_MAX, 300, 'seconds that an export may take'),
  exportRowsMax: integer(1, ROWS_MAX, 10_000_000, 'rows of an export at most'),
  compareUsersMax: integer(1, 100_000, 1000, 'users of a comparison at most'),
});
