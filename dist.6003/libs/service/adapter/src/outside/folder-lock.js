import { join } from "node:path";
import { lockFile } from "../../../../engine/src/index.js";
import { TesseraError } from "../../../../ops/errors/src/index.js";
const NAME = 'lock';
/**
 * One process at a time in a folder; the lock of one that has ended is free.
 * @param field of the configuration that names the folder
 * @returns what gives it back
 * @throws TesseraError STORE_INVALID where another process has it
 */ export function lockFolder(folder, field) {
    try {
        return lockFile(join(folder, NAME));
    } catch (thrown) {
        const error = TesseraError.from(thrown);
        throw new TesseraError(error.code, `${field}: ${error.message}`, {
            field,
            cause: error
        });
    }
}

//# sourceMappingURL=folder-lock.js.map