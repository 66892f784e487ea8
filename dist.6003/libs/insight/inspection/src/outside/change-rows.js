export const CHANGE_COLUMNS = 'epoch_ms(time)::DOUBLE AS time_ms, catalogue, sequence::DOUBLE AS sequence, change_count, ' + 'source, ops, told';
/** A change as a row of `changes`. */ export function changeRow({ timeMs, changeCount, ops, told, ...change }) {
    const texts = {
        ops: JSON.stringify(ops),
        told: JSON.stringify(told)
    };
    return {
        time: timeMs,
        change_count: changeCount,
        ...change,
        ...texts
    };
}
export function changeFrom(row) {
    return {
        timeMs: Number(row.time_ms),
        catalogue: String(row.catalogue),
        sequence: Number(row.sequence),
        changeCount: Number(row.change_count),
        source: String(row.source),
        ops: JSON.parse(String(row.ops)),
        told: JSON.parse(String(row.told))
    };
}

//# sourceMappingURL=change-rows.js.map