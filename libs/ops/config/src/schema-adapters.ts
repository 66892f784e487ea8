/** Keys of adapters and of whole weights. */

import { MEBIBYTE } from '@tessera/units';
import { z } from 'zod';
import { ENGINE_LIMITS } from './generated/engine-limits.js';
import { integer, nonEmptyText, oneOf, storeFolder, text } from './schema-fields.js';

const GIBIBYTE = 2 ** 30;
const BYTES_MAX = 2 ** 50;
const PERCENT = 100;
const MILLISECONDS_MAX = 3_600_000;

export const adaptersSchema = z.strictObject({
  path: storeFolder(
    'adapters',
    'folder of the versions of adapters, one process at a time; empty: no adapters',
    { canBeEmpty: true },
  ),
  defaultName: nonEmptyText('main', 'name of the adapter of requests that name none'),
  bytesMax: integer(0, BYTES_MAX, 256 * MEBIBYTE, 'bytes of memory for all loaded versions'),
  rankMax: integer(1, 128, 128, 'rank of an adapter at most'),
  normMax: integer(1, 1_000_000, 100, 'Frobenius norm of what an adapter adds to a matrix at most'),
  versionBytesMax: integer(1024, BYTES_MAX, GIBIBYTE, 'bytes of the files of a version at most'),
  diskBytes: integer(1024, BYTES_MAX, 4 * GIBIBYTE, 'bytes of the files of all versions at most'),
  fetchPath: text('', 'folder that announced versions are fetched from; empty: none'),
  s3Buckets: text(
    '',
    'buckets that announced versions may be fetched from, separated by commas; empty: none',
  ),
  s3Endpoint: text('', 'URL of the S3-compatible store of these buckets; empty: that of AWS'),
  s3Region: nonEmptyText('us-east-1', 'region of the buckets'),
  s3Addressing: oneOf(
    ['host', 'path'],
    'host',
    'where a URL of the store has the bucket; most stores other than AWS want path',
  ),
  fetchTimeoutMs: integer(
    1,
    MILLISECONDS_MAX,
    30_000,
    'milliseconds that one attempt at fetching a version from the store may take',
  ),
  fetchAttempts: integer(
    1,
    1000,
    10,
    'attempts at a store that does not answer, until the announcement is a dead letter',
  ),
  goldenPath: text(
    '',
    'JSON list of users and histories that a version has to answer; empty: the first users known',
  ),
  goldenUsers: integer(0, 1024, 16, 'of the first users known, how many'),
  warmUsers: integer(
    0,
    4096,
    256,
    'users whose keys and values are computed before a switch at most',
  ),
  kvVersionsBack: integer(
    0,
    ENGINE_LIMITS.versionsBackMax,
    0,
    'versions back that keys and values of a user may come from; 0: none, which changes no answer',
  ),
  warmMs: integer(0, MILLISECONDS_MAX, 10_000, 'milliseconds that this may take'),
  shadowPercent: integer(
    0,
    PERCENT,
    10,
    'of the recalls of a canary, how many the active version answers as well',
  ),
  samplesMin: integer(1, 1_000_000, 50, 'samples that a rule of the comparison waits for'),
  overlapMinPercent: integer(
    0,
    PERCENT,
    20,
    'items that answers of a canary have in common with the active version, on the mean at least',
  ),
  failureMaxPercent: integer(
    0,
    PERCENT,
    2,
    'percent points of failures above the active version at most',
  ),
  emptyMaxPercent: integer(0, PERCENT, 2, 'the same of empty answers'),
  shortMaxPercent: integer(0, PERCENT, 10, 'the same of short answers'),
  latencyMaxPercent: integer(
    PERCENT,
    100_000,
    300,
    "95th percentile of a canary's latency, percent of the active version's at most",
  ),
  clickDropMax: integer(
    0,
    1_000_000,
    1000,
    'mean score of clicked items below that of the active version at most, in thousandths',
  ),
});

export const weightsSchema = z.strictObject({
  path: storeFolder(
    'weights',
    'folder of sets of weights that may take the place of those of model.path; empty: none',
    { canBeEmpty: true },
  ),
  waitMaxMs: integer(
    0,
    MILLISECONDS_MAX,
    1000,
    'milliseconds that an update of the weights waits for the requests that run at most',
  ),
});
