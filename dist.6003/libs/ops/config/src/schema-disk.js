/** Keys of what all stores leave of their disks. */ import { MEBIBYTE } from "../../units/src/index.js";
import { z } from "zod";
import { integer } from "./schema-fields.js";
const BYTES_MAX = 2 ** 50;
export const diskSchema = z.strictObject({
    reserveBytes: integer(0, BYTES_MAX, 64 * MEBIBYTE, 'free bytes of a file system below which its stores stop writing: behaviours, catalogue ' + 'changes, adapters, weights, the KV disk tier, built snapshots')
});

//# sourceMappingURL=schema-disk.js.map