/** Keys of what lets analysts look into recalls, and of how they log in. */

import { MEBIBYTE } from '@tessera/units';
import { z } from 'zod';
import { integer, nonEmptyText, oneOf, storeFolder, text } from './schema-fields.js';

const GIBIBYTE = 2 ** 30;
const BYTES_MAX = 2 ** 50;
const QUEUE_MAX = 1_000_000;
const HOURS_MAX = 24 * 3660;
const SECONDS_MAX = 3600;
const MINUTES_MAX = 60 * 24 * 366;
const ROWS_MAX = 100_000_000;

export const inspectionSchema = z.strictObject({
  path: storeFolder('inspection', 'folder of recorded recalls; empty: none are recorded', {
    canBeEmpty: true,
  }),
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
  gateway: text(
    '',
    'HOST:PORT of the HTTP edge of the gateway before this node, whose nodes the console shows; ' +
      'empty: none',
  ),
  sqlSeconds: integer(1, SECONDS_MAX, 10, 'seconds that a question in SQL may take'),
  sqlRowsMax: integer(1, 100_000, 1000, 'rows that a question in SQL is answered with at most'),
  exportSeconds: integer(1, SECONDS_MAX, 300, 'seconds that an export may take'),
  sqlBytesMax: integer(
    1024,
    256 * MEBIBYTE,
    4 * MEBIBYTE,
    'bytes of the rows that a question in SQL is answered with; further ones are left out',
  ),
  queriesMax: integer(
    1,
    64,
    4,
    'questions in SQL and exports at once, each in a process of its own; others are refused',
  ),
  queryPriority: oneOf(
    ['idle', 'low'],
    'idle',
    'questions in SQL run where a core has nothing else to do, and wait while recalls take all; ' +
      'low: with a small part of a core',
  ),
  queryMemoryBytes: integer(
    64 * MEBIBYTE,
    BYTES_MAX,
    512 * MEBIBYTE,
    'bytes of memory that one of them may take; one that takes more is ended',
  ),
  queryDiskBytes: integer(
    MEBIBYTE,
    BYTES_MAX,
    GIBIBYTE,
    'bytes on disk that one of them may spill, and that its export may have',
  ),
  exportRowsMax: integer(1, ROWS_MAX, 10_000_000, 'rows of an export at most'),
  compareUsersMax: integer(1, 100_000, 1000, 'users of a comparison at most'),
});

export const loginSchema = z.strictObject({
  publicUrl: text(
    '',
    'address that people reach the console at, where a proxy stands before it, as ' +
      'https://recall.example.org; empty: the one that they ask for',
  ),
  sessionMinutes: integer(1, MINUTES_MAX, 480, 'minutes after which people have to log in again'),
  sessionsMax: integer(1, 1_000_000, 1000, 'logged in at once; one more ends the one longest idle'),
  failuresMax: integer(1, 1_000_000, 10, 'attempts of one address to log in that may fail'),
  failuresMinutes: integer(1, MINUTES_MAX, 15, 'minutes in which they are counted'),
});

export const oidcSchema = z.strictObject({
  issuer: text('', 'address of an OpenID provider to log in with; empty: none'),
  clientId: text('', 'ID of the console with the provider'),
  clientSecretPath: text('', 'file of its secret; empty: it has none'),
  scopes: nonEmptyText('openid profile', 'scopes that are asked for'),
  roleClaim: nonEmptyText('roles', 'claim that has the roles, or path of it with dots'),
  nameClaim: nonEmptyText('preferred_username', 'claim that people are called by'),
  roles: nonEmptyText(
    'read=read,operate=operate,admin=admin',
    'VALUE=ROLE: role of each value of the claim, separated by commas; the highest counts',
  ),
});
