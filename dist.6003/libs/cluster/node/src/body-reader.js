import { TesseraError } from "../../../ops/errors/src/index.js";
import { bodyOf } from "../../log/src/index.js";
import { entriesOf } from "./entries-of.js";
/** Kind of the entries by which a person refuses one whose body is lost: `{"offset": N}`. */ export const REFUSE = 'refuse';
/** Bodies of entries: in the entry, or in the store under the name that it has. */ export class BodyReader {
    log;
    store;
    constructor(log, store){
        this.log = log;
        this.store = store;
    }
    /**
   * Rejects with REQUEST_INVALID for a body that is none, or that a later entry refuses: alike on
   * every node; with LOG_INCOMPLETE for one that is gone, and as the store does.
   */ async of({ text, stored, format }, offset = 0) {
        const content = stored === '' ? text : await this.stored(stored, offset);
        try {
            return bodyOf(content, format);
        } catch (cause) {
            const message = `entry ${offset}: expected a body of JSON, got ${cause.message}`;
            throw new TesseraError('REQUEST_INVALID', message, {
                cause
            });
        }
    }
    async stored(name, offset) {
        try {
            return Buffer.from(await this.store.get(name)).toString();
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            if (error.code !== 'STORE_CORRUPT') throw error;
            if (offset > 0 && await this.isRefused(offset)) {
                throw new TesseraError('REQUEST_INVALID', `entry ${offset} is refused: its body is lost`);
            }
            const message = `${error.message}: the body of entry ${offset}. A node that has applied it makes a ` + `snapshot; where none has: npm run log -- refuse ${offset}`;
            throw new TesseraError('LOG_INCOMPLETE', message, {
                cause: error
            });
        }
    }
    async isRefused(offset) {
        const { end } = await this.log.bounds();
        for await (const { kind, text } of entriesOf(this.log, offset + 1, end)){
            if (kind === REFUSE && text === JSON.stringify({
                offset
            })) return true;
        }
        return false;
    }
}

//# sourceMappingURL=body-reader.js.map