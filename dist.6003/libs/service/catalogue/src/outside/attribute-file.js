import { TesseraError } from "../../../../ops/errors/src/index.js";
import { readRegular, textOf } from "../../../../ops/files/src/index.js";
import { parseAttributeSchema } from "../domain/attribute-schema.js";
import { parseValuations } from "../domain/valuation-file.js";
const FILE_BYTES_MAX = 16 << 20;
/** @param key of the configuration that names the file */ async function textAt(key, path) {
    const bytes = await readRegular(path, FILE_BYTES_MAX).catch((error)=>{
        const message = `${key}: expected a file, got ${path}: ${error.message}`;
        throw new TesseraError('CATALOGUE_NOT_FOUND', message, {
            cause: error
        });
    });
    return textOf(path, bytes, 'CATALOGUE_INVALID');
}
/**
 * The declarations of a file (docs/concepts/eligibility.md).
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID with file and member
 */ export async function readAttributeSchema(path) {
    return parseAttributeSchema(await textAt('catalogue.attributesPath', path), path);
}
/**
 * Requests may go by the valuations of the file (docs/concepts/value.md) from now on.
 * @param key of the configuration that names the file
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID with key, file and member
 */ export async function valueByFile(catalogue, path, key) {
    const file = `${key}: ${path}`;
    const valuations = parseValuations(await textAt(key, path), file);
    await catalogue.valueBy(valuations).catch((thrown)=>{
        const error = TesseraError.from(thrown);
        const named = (text)=>text.replace(/^valuations\[(\d+)\]/, (_, index)=>valuations[Number(index)]?.name ?? '');
        const { code, field = '' } = error;
        throw new TesseraError(code, `${file}: ${named(error.message)}`, {
            field: `${file}: ${named(field)}`,
            cause: error
        });
    });
}

//# sourceMappingURL=attribute-file.js.map