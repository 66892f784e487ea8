/** Texts that spreadsheets take for a formula, or that could hide the beginning of one. */ const FORMULA = '^[=+\\-@\\t\\r]';
/** Types whose text begins with a digit or a sign of a number, or is one of a few words. */ const HARMLESS = new Set([
    ...[
        'BOOLEAN',
        'TINYINT',
        'SMALLINT',
        'INTEGER',
        'BIGINT',
        'HUGEINT'
    ],
    ...[
        'UTINYINT',
        'USMALLINT',
        'UINTEGER',
        'UBIGINT',
        'UHUGEINT'
    ],
    ...[
        'FLOAT',
        'DOUBLE',
        'DECIMAL',
        'UUID',
        'DATE',
        'TIME',
        'INTERVAL'
    ],
    ...[
        'TIMESTAMP',
        'TIMESTAMP_S',
        'TIMESTAMP_MS',
        'TIMESTAMP_NS',
        'TIMESTAMP_TZ'
    ]
]);
const quoted = (name)=>`"${name.replaceAll('"', '""')}"`;
const defused = (text)=>/^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
/** Excel takes a file for one in UTF-8 by its byte order mark alone. */ const MARK = '\ufeff';
const cell = (name)=>/[",\r\n]/.test(name) ? quoted(name) : name;
/**
 * COPY for spreadsheets: the same rows, where a text that a spreadsheet would compute
 * has a quotation mark before it, the names of columns as well (OWASP, "CSV injection"). Numbers
 * stay numbers.
 */ export async function spreadsheet(connection, rows) {
    const { DuckDBTypeId: types } = await import("@duckdb/node-api");
    const prepared = await connection.prepare(rows);
    const count = prepared.columnCount;
    const columns = Array.from({
        length: count
    }, (_, index)=>({
            name: prepared.columnName(index),
            isHarmless: HARMLESS.has(types[prepared.columnTypeId(index)])
        }));
    prepared.destroySync();
    const own = columns.map((_, index)=>`c${index}`);
    const cells = columns.map(({ name, isHarmless }, index)=>{
        const column = own[index];
        const text = `${column}::VARCHAR`;
        const isFormula = `regexp_matches(${text}, '${FORMULA}')`;
        const safe = `CASE WHEN ${isFormula} THEN '''' || ${text} ELSE ${text} END`;
        return `${isHarmless ? column : safe} AS ${quoted(defused(name))}`;
    });
    const head = columns.map(({ name })=>cell(defused(name))).join(',');
    const prefix = `${MARK}${head}\n`.replaceAll("'", "''");
    return {
        source: `SELECT ${cells.join(', ')} FROM (\n${rows}\n) AS rows(${own.join(', ')})`,
        options: `FORMAT csv, HEADER false, PREFIX '${prefix}', SUFFIX '\n'`
    };
}

//# sourceMappingURL=csv-cells.js.map