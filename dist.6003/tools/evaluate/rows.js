const HIGH = 0.9;
/** By the nearest rank; 0 of no values. */ export function rowsAt(rows, share) {
    const sorted = rows.toSorted((a, b)=>a - b);
    return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
export function rowsOf(searched) {
    const count = Math.max(1, searched.length);
    const rows = searched.map((one)=>one.rows);
    return {
        rowsMean: rows.reduce((sum, one)=>sum + one, 0) / count,
        rowsP90: rowsAt(rows, HIGH),
        certifiedShare: searched.filter(({ certified })=>certified).length / count
    };
}
export function describeRows({ rowsMean, rowsP90, certifiedShare }) {
    const percent = (100 * certifiedShare).toFixed(1);
    const rows = `${rowsMean.toFixed(1)} on the mean, 90 % of users at most ${rowsP90}`;
    return `rows of beams ${rows}; ${percent} % of answers certified`;
}

//# sourceMappingURL=rows.js.map