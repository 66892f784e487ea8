/** Keys of models that make vectors of texts. */

import { z } from 'zod';
import { ENGINE_LIMITS } from './generated/engine-limits.js';
import { readMachine } from './machine.js';
import { integer, oneOf, text } from './schema-fields.js';

const TOKENS_MAX = 65_536;
const PASS_TEXTS_MAX = 4096;
const REQUEST_TEXTS_MAX = 65_536;
const TEXT_BYTES_MAX = 16_777_216;
const QUEUE_TEXTS_MAX = 1_000_000;

export const embeddingSchema = z.strictObject({
  models: text(
    '',
    'models that make vectors of texts, as name=FOLDER; name=FOLDER; empty: none are served',
  ),
  computeType: oneOf(
    ['f32', 'bf16', 'w8a8', 'w8a8-static'],
    'f32',
    'type of their matrix products; w8a8: linear layers in INT8, the rest in BF16; w8a8-static: ' +
      'the same with scales that npm run calibrate has measured',
  ),
  threadCount: integer(
    1,
    ENGINE_LIMITS.threadCountMax,
    Math.min(ENGINE_LIMITS.threadCountMax, readMachine().cpuCount),
    'compute threads of a model; recalls go before them',
    'cores of the machine, or of the cgroup',
  ),
  passTokensMax: integer(
    1,
    TOKENS_MAX,
    4096,
    'tokens of a pass at most, and so of a text; further ones of a text are left out and counted',
  ),
  passTextsMax: integer(1, PASS_TEXTS_MAX, 256, 'texts of a pass at most'),
  passTimeTargetMs: integer(
    1,
    60_000,
    50,
    'milliseconds that a pass is predicted to take at most, unless one text takes longer',
  ),
  requestTextsMax: integer(1, REQUEST_TEXTS_MAX, 2048, 'texts of a request at most'),
  textBytesMax: integer(1, TEXT_BYTES_MAX, 65_536, 'UTF-8 bytes of a text at most'),
  queueTextsMax: integer(
    1,
    QUEUE_TEXTS_MAX,
    16_384,
    'texts that wait at most, by model; a request that would make them more is refused',
  ),
});
