import { TesseraError } from "../../errors/src/index.js";
/** The content of each record, in order; those that `read` refuses apart. */ export function readRecords(records, read) {
    const contents = [];
    const dead = [];
    for (const record of records){
        try {
            contents.push(read(record));
        } catch (thrown) {
            dead.push({
                record,
                error: TesseraError.from(thrown)
            });
        }
    }
    return {
        contents,
        dead
    };
}

//# sourceMappingURL=read-records.js.map