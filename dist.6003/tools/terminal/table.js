import { visible } from "../../libs/ops/errors/src/index.js";
/** Width of a title column; longer texts are cut. */ const CELL_LENGTH_MAX = 80;
/** A table in columns of equal width, with a header line. */ export function table(columns, rows) {
    const cells = rows.map((row)=>row.map((text, at)=>shown(text, columns[at]?.isWhole)));
    const widths = columns.map((column, at)=>Math.max(column.name.length, ...cells.map((row)=>[
                ...row[at] ?? ''
            ].length)));
    const line = (row)=>row.map((cell, at)=>pad(cell, widths[at] ?? 0, columns[at]?.right === true)).join('  ');
    const header = columns.map((column)=>column.name);
    const rule = widths.map((width)=>'-'.repeat(width));
    return [
        header,
        rule,
        ...cells
    ].map((row)=>line(row).trimEnd()).join('\n');
}
function shown(text, isWhole = false) {
    const clean = [
        ...visible(text.replace(/\s+/g, ' '))
    ];
    return isWhole || clean.length <= CELL_LENGTH_MAX ? clean.join('') : `${clean.slice(0, CELL_LENGTH_MAX - 1).join('')}…`;
}
function pad(text, width, right) {
    const space = ' '.repeat(Math.max(width - [
        ...text
    ].length, 0));
    return right ? space + text : text + space;
}

//# sourceMappingURL=table.js.map