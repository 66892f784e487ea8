import { erasedKey, readTime, recordKey, timeBytes } from "./embedded-keys.js";
/** Keys that recordOf() reads. */ export const keysOfRecord = (userId)=>[
        recordKey(userId),
        erasedKey(userId)
    ];
/** @param none what a user has of whom there is nothing */ export function recordOf(value, erased, none) {
    const record = value === undefined ? none : readRecord(value);
    if (erased === undefined) return record;
    const erasedUntilMs = Math.max(readTime(erased, 0), record.erasedUntilMs);
    return {
        ...record,
        erasedUntilMs
    };
}
/** A store of a release before has the time of the erasure in the record itself. */ export function readRecord(value) {
    const { erasedUntilMs = -1, arrival = 0, ...record } = JSON.parse(value.toString());
    return {
        ...record,
        erasedUntilMs,
        arrival
    };
}
/** Of a user who is not known, nothing that names them. */ export function recordEntries(userId, record) {
    const { erasedUntilMs, ...kept } = record;
    const entries = [];
    if (record.known) {
        entries.push({
            key: recordKey(userId),
            value: Buffer.from(JSON.stringify(kept))
        });
    }
    if (erasedUntilMs >= 0) {
        entries.push({
            key: erasedKey(userId),
            value: timeBytes(erasedUntilMs)
        });
    }
    return entries;
}

//# sourceMappingURL=user-record.js.map