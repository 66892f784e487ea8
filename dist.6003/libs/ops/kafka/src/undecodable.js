import { TesseraError } from "../../errors/src/index.js";
import { RECORD_HEADERS } from "./topic-record.js";
/** Records of a batch that can stand for what could not be decompressed. */ const PLACEHOLDERS_MAX = 65_536;
/** Longer reasons are cut: each placeholder has it. */ const REASON_BYTES_MAX = 120;
/** Zigzag and seven bits a byte, as numbers of a record are written. */ function varint(value) {
    const bytes = [];
    let left = value >= 0 ? value * 2 : -value * 2 - 1;
    for(; left >= 0x80; left = Math.floor(left / 0x80))bytes.push(left % 0x80 | 0x80);
    return [
        ...bytes,
        left
    ];
}
/**
 * Records (format 2) without key and value in the place of those of a batch that cannot be
 * decompressed, with the reason in a header. A client library that fails at a batch stops its
 * partition for ever; of these each has its offset and is buried. The number of records is not
 * known here: only as many are read as the batch has, a larger batch is still a failure.
 */ export function placeholders(reason) {
    const name = Buffer.from(RECORD_HEADERS.undecodable);
    const text = Buffer.from(reason).subarray(0, REASON_BYTES_MAX);
    const header = [
        ...varint(1),
        ...varint(name.length),
        ...name,
        ...varint(text.length),
        ...text
    ];
    const records = [];
    for(let delta = 0; delta < PLACEHOLDERS_MAX; delta += 1){
        const body = [
            0,
            ...varint(0),
            ...varint(delta),
            ...varint(-1),
            ...varint(-1),
            ...header
        ];
        records.push(Buffer.from([
            ...varint(body.length),
            ...body
        ]));
    }
    return Buffer.concat(records);
}
/**
 * The record itself.
 * @throws TesseraError REQUEST_INVALID where it stands for one that could not be decompressed
 */ export function decoded(record) {
    const reason = record.headers[RECORD_HEADERS.undecodable];
    if (reason === undefined) return record;
    const message = `batch: expected records that can be decompressed, got ${reason}`;
    throw new TesseraError('REQUEST_INVALID', message, {
        field: 'batch'
    });
}

//# sourceMappingURL=undecodable.js.map