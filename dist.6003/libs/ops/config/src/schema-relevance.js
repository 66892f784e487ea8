/** Keys of the model that scores texts for a query. */ import { MEBIBYTE } from "../../units/src/index.js";
import { z } from "zod";
import { ENGINE_LIMITS } from "./generated/engine-limits.js";
import { integer, oneOf, text } from "./schema-fields.js";
const BYTES_MAX = 2 ** 50;
export const relevanceSchema = z.strictObject({
    path: text('', 'Hugging Face folder of a model that scores texts for a query; empty: none'),
    adapters: text('', 'adapters of that model, as name=FOLDER; name=FOLDER; empty: none; limited by ' + 'adapters.bytesMax'),
    computeType: oneOf([
        'bf16',
        'f32',
        'w8a8'
    ], 'bf16', 'number type of the matrix products; w8a8: INT8 in linear layers, BF16 elsewhere'),
    promptTokensMax: integer(1, ENGINE_LIMITS.promptTokensMax, 8192, 'tokens of a query and a document, including the template'),
    kvBytesMax: integer(MEBIBYTE, BYTES_MAX, 2 ** 30, 'bytes of keys and values of all running documents')
});

//# sourceMappingURL=schema-relevance.js.map