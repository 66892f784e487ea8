/** Keys of where behaviours are kept, and what of each user. */

import { z } from 'zod';
import { REDIS_SECURITY } from './schema-brokers.js';
import { nonEmptyText, oneOf, storeFolder, text } from './schema-fields.js';

export const behavioursSchema = z.strictObject({
  store: oneOf(
    ['embedded', 'redis', 'remote', 'file'],
    'embedded',
    'where behaviours are kept; remote: asked of a feature process; file: the users file ' +
      'alone, read-only',
  ),
  path: storeFolder('behaviours', 'folder of the embedded store', { canBeEmpty: false }),
  redis: text(
    '',
    'HOST:PORT of Redis, or of one or several nodes of a cluster separated by commas',
  ),
  remote: text('', 'HOST:PORT of the gRPC edge of a feature process'),
  retrieval: text(
    '',
    'HOST:PORT of other retrieval processes whose KV pools follow the behaviours and that ' +
      'erasures reach, separated by commas',
  ),
  erasuresPath: text('', 'folder of erasures that are pending; empty: behaviours.path.erasures'),
  keyPrefix: text('tessera:', 'put before every key in Redis'),
  ...REDIS_SECURITY,
  clickActions: nonEmptyText(
    'click',
    'actions that are clicks, separated by commas, * for all: canaries and popular items count ' +
      'them alone; a behaviour without an action is a click',
  ),
  retention: nonEmptyText(
    '*=10000',
    'what is kept of each user: ACTION=COUNT,AGE windows separated by semicolons, * for ' +
      'all other actions, e.g. purchase=500,365d; *=2000,90d',
  ),
});
