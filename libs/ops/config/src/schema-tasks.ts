/** Keys of calls into the engine's library that take time: they have threads of their own. */

import { z } from 'zod';
import { integer } from './schema-fields.js';

export const tasksSchema = z.strictObject({
  servingThreads: integer(
    1,
    64,
    4,
    'threads of each lane that requests wait for ' +
      '(read: records that are not in memory, eligibility; write)',
  ),
  servingQueueMax: integer(
    1,
    1_000_000,
    16_384,
    'calls that wait in such a lane at most; others are refused',
  ),
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
