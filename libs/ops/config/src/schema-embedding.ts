/** Keys of models that make vectors of texts. */

import { z } from 'zod';
import { ENGINE_LIMITS } from './generated/engine-limits.js';
import { readMachine } from './machine.js';
import { integer, oneOf, text } from './schema-fields.js';

const TOKENS_MAX = 65_536;
const QUEUE_TEXTS_MAX = 1_000_000;

export const embeddingSchema = z.strictObject({
  models: text('', 'text encoders, as name=FOLDER; name=FOLDER; empty: none'),
  computeType: oneOf(
    ['f32', 'bf16', 'w8a8', 'w8a8-static'],
    'f32',
    'number type of the matrix products; w8a8: INT8 in linear layers, BF16 elsewhere; ' +
      'w8a8-static: the same with scales measured by npm run calibrate',
  ),
  threadCount: integer(
    1,
    ENGINE_LIMITS.threadCountMax,
    Math.min(ENGINE_LIMITS.threadCountMax, readMachine().cpuCount),
    'compute threads of an encoder; recalls have priority',
    'cores of the machine, or of the cgroup',
  ),
  passTokensMax: integer(
    1,
    TOKENS_MAX,
    4096,
    'tokens of a forward pass, and of one text: longer texts are truncated and counted',
  ),
  queueTextsMax: integer(
    1,
    QUEUE_TEXTS_MAX,
    16_384,
    'texts waiting per model; a request that exceeds it is refused',
  ),
});
