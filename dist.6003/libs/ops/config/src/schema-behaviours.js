/** Keys of where behaviours are kept, and what of each user. */ import { z } from "zod";
import { REDIS_SECURITY } from "./schema-brokers.js";
import { nonEmptyText, oneOf, storeFolder, text } from "./schema-fields.js";
export const behavioursSchema = z.strictObject({
    store: oneOf([
        'embedded',
        'redis',
        'remote',
        'file'
    ], 'embedded', 'store of behaviours; remote: a feature process; file: the users file, read-only'),
    path: storeFolder('behaviours', 'folder of the embedded store', {
        canBeEmpty: false
    }),
    redis: text('', 'HOST:PORT of Redis, or of nodes of a Redis cluster, separated by commas, with rediss:// in ' + 'front for TLS'),
    remote: text('', 'HOST:PORT of the gRPC edge of a feature process'),
    retrieval: text('', 'HOST:PORT of other retrieval processes, or of a gateway, separated by commas, with @append ' + 'or @answer behind where cluster.role of one is: they receive appends and erasures'),
    ...REDIS_SECURITY,
    clickActions: nonEmptyText('click', 'actions that are clicks, separated by commas, * for all: only clicks count for canaries ' + 'and popular items; a behaviour without an action is a click'),
    retention: nonEmptyText('*=10000', 'behaviours kept per user: ACTION=COUNT,AGE windows separated by semicolons, * for all ' + 'other actions, e.g. purchase=500,365d; *=2000,90d')
});

//# sourceMappingURL=schema-behaviours.js.map