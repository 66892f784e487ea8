/** The tree of a search as rows, and as the bytes that are stored. */ import { NOTHING, TREE_OUTCOMES, TREE_SLOTS } from "../../../../engine/src/index.js";
const SLOTS = TREE_SLOTS.length;
const CELL_BYTES = 4;
const ROW_BYTES = (SLOTS + 1) * CELL_BYTES;
/** Little endian: the cells of a row, then its score, row after row. */ export function treeBytes(tree) {
    if (tree === undefined) return new Uint8Array();
    const rows = tree.scores.length;
    const view = new DataView(new ArrayBuffer(rows * ROW_BYTES));
    for(let row = 0; row < rows; row++){
        const at = row * ROW_BYTES;
        for(let slot = 0; slot < SLOTS; slot++){
            view.setUint32(at + slot * CELL_BYTES, tree.cells[row * SLOTS + slot] ?? 0, true);
        }
        view.setFloat32(at + SLOTS * CELL_BYTES, tree.scores[row] ?? 0, true);
    }
    return new Uint8Array(view.buffer);
}
/** Bytes that do not make whole rows are read as far as they do. */ export function treeRows(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Array.from({
        length: Math.floor(bytes.byteLength / ROW_BYTES)
    }, (_, row)=>{
        const cell = (slot)=>view.getUint32(row * ROW_BYTES + slot * CELL_BYTES, true);
        const [step, parent, code, outcome, items] = [
            cell(0),
            cell(1),
            cell(2),
            cell(3),
            cell(4)
        ];
        return {
            step,
            parent: parent === NOTHING.row ? -1 : parent,
            code: code === NOTHING.code ? -1 : code,
            score: view.getFloat32(row * ROW_BYTES + SLOTS * CELL_BYTES, true),
            goesOn: (outcome & TREE_OUTCOMES.goesOn) !== 0,
            endsHere: (outcome & TREE_OUTCOMES.endsHere) !== 0,
            items,
            atLeast: (outcome & TREE_OUTCOMES.atLeast) !== 0,
            provedOut: (outcome & TREE_OUTCOMES.provedOut) !== 0
        };
    });
}

//# sourceMappingURL=tree-rows.js.map