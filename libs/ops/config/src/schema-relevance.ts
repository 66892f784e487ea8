/** Keys of the model that scores texts for a query. */

import { MEBIBYTE } from '@tessera/units';
import { z } from 'zod';
import { ENGINE_LIMITS } from './generated/engine-limits.js';
import { readMachine } from './machine.js';
import { integer, oneOf, text } from './schema-fields.js';

const BYTES_MAX = 2 ** 50;
const CPU_COUNT = readMachine().cpuCount;

export const relevanceSchema = z.strictObject({
  path: text('', 'Hugging Face folder of a model that scores texts for a query; empty: none'),
  adapters: text(
    '',
    'adapters that its calls may name, as name=FOLDER; name=FOLDER; empty: none. Their bounds ' +
      'are adapters.bytesMax, adapters.rankMax and adapters.normMax',
  ),
  computeType: oneOf(
    ['bf16', 'f32', 'w8a8'],
    'bf16',
    'type of the matrix products; w8a8: linear layers in INT8, the rest in BF16',
  ),
  threadCount: integer(
    1,
    ENGINE_LIMITS.threadCountMax,
    Math.min(ENGINE_LIMITS.threadCountMax, Math.max(1, CPU_COUNT - 1)),
    'compute threads of its engine, which share the CPUs with those of recalls',
    'cores of the machine, or of the cgroup, but one',
  ),
  documentsMax: integer(1, 100_000, 1000, 'documents of a call at most'),
  promptTokensMax: integer(
    1,
    ENGINE_LIMITS.promptTokensMax,
    8192,
    'tokens of a query and a document at most, with the template',
  ),
  queueCapacity: integer(
    1,
    ENGINE_LIMITS.queueCapacityMax,
    2048,
    'documents waiting or running at most',
  ),
  batchRequestsMax: integer(
    1,
    ENGINE_LIMITS.batchRequestsMax,
    32,
    'documents that share forward passes',
  ),
  kvBytesMax: integer(
    MEBIBYTE,
    BYTES_MAX,
    2 ** 30,
    'bytes of the keys and values of all documents that run at most',
  ),
});
