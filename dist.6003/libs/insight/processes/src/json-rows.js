/** Rows made ready on one turn of the event loop; recalls go on between them. */ const ROWS_PER_TURN = 4;
/** The rows as a JSON array, some on each turn of the event loop. */ export async function jsonRows(elements, rowsOf) {
    const texts = [];
    for (const [index, element] of elements.entries()){
        for (const row of rowsOf(element))texts.push(JSON.stringify(row));
        if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) {
            await new Promise((resolve)=>setImmediate(resolve));
        }
    }
    return {
        text: `[${texts.join(',')}]`,
        count: texts.length
    };
}

//# sourceMappingURL=json-rows.js.map