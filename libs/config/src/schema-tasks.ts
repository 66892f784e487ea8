/** Keys of long calls into the engine's library: they have threads of their own. */

import { z } from 'zod';
import { integer } from './schema-fields.js';

export const tasksSchema = z.strictObject({
  threads: integer(
    1,
    64,
    2,
    'threads of each lane of long calls (build, change, erase, end); integrity checks have one',
  ),
  queueMax: integer(
    1,
    1_000_000,
    256,
    'long calls that wait in a lane at most; others are refused',
  ),
});
