import { writeFile } from "node:fs/promises";
export function searchReport({ certified, rows, gap }, passes) {
    const decodes = passes.filter(({ kind })=>kind === 'decode').length;
    return {
        certified,
        rows,
        passes: 1 + decodes,
        gap: gap ?? null
    };
}
/** A line of JSON for each prompt, in their order. */ export async function writeReports(path, reports) {
    if (path === undefined) return;
    await writeFile(path, reports.map((report)=>`${JSON.stringify(report)}\n`).join(''));
}
/** For people: `certified, 83 rows in 4 passes`. */ export function describeReport({ certified, rows, passes, gap }) {
    const missed = gap === null ? 'not certified' : `not certified, gap ${gap.toFixed(4)}`;
    return `${certified ? 'certified' : missed}; ${rows} rows in ${passes} passes`;
}

//# sourceMappingURL=search-report.js.map