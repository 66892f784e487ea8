/** Keys of adapters and of whole weights. */ import { MEBIBYTE } from "../../units/src/index.js";
import { z } from "zod";
import { ENGINE_LIMITS } from "./generated/engine-limits.js";
import { integer, oneOf, storeFolder, text } from "./schema-fields.js";
const GIBIBYTE = 2 ** 30;
const BYTES_MAX = 2 ** 50;
export const adaptersSchema = z.strictObject({
    path: storeFolder('adapters', 'folder of adapter versions, for one process; empty: no adapters', {
        canBeEmpty: true
    }),
    bytesMax: integer(0, BYTES_MAX, 256 * MEBIBYTE, 'bytes of memory of all loaded versions'),
    diskBytes: integer(1024, BYTES_MAX, 4 * GIBIBYTE, 'bytes of the files of all versions'),
    fetchPath: text('', 'folder that announced versions are copied from; empty: none'),
    s3Buckets: text('', 'buckets that announced versions are fetched from, separated by commas; empty: none'),
    s3Addressing: oneOf([
        'host',
        'path'
    ], 'host', 'place of the bucket in a URL of the store; most stores other than AWS need path'),
    goldenPath: text('', 'JSON list of users and histories that a version must answer; empty: the first known users'),
    kvVersionsBack: integer(0, ENGINE_LIMITS.versionsBackMax, 0, "versions back that a user's stored keys and values may come from; 0: none, so answers " + 'never differ')
});
export const weightsSchema = z.strictObject({
    path: storeFolder('weights', 'folder of sets of weights that can replace those of model.path; empty: none', {
        canBeEmpty: true
    })
});

//# sourceMappingURL=schema-adapters.js.map