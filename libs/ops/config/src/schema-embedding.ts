/** Keys of models that make vectors of texts. */

import { z } from 'zod';
import { integer, oneOf, text } from './schema-fields.js';

const TOKENS_MAX = 65_536;

export const embeddingSchema = z.strictObject({
  models: text('', 'text encoders, as name=FOLDER; name=FOLDER; empty: none'),
  computeType: oneOf(
    ['f32', 'bf16', 'w8a8', 'w8a8-static'],
    'f32',
    'number type of the matrix products; w8a8: INT8 in linear layers, BF16 elsewhere; ' +
      'w8a8-static: the same with scales measured by npm run doctor -- --calibrate',
  ),
  passTokensMax: integer(
    1,
    TOKENS_MAX,
    4096,
    'tokens of a forward pass, and of one text: longer texts are truncated and counted',
  ),
});
