import { access, open, readFile, rename, writeFile } from "node:fs/promises";
/** Bytes before the numbers are a multiple of this (numpy.lib.format, version 1.0). */ const ALIGNMENT = 64;
/** Magic, version and the length of what follows. */ const FIXED_BYTES = 10;
const F32_BYTES = 4;
/** Beginning of a NumPy file: an array (rows, dimension) of little-endian F32. */ export function npyHeader(rows, dimension) {
    const described = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${dimension}), }`;
    const length = Math.ceil((FIXED_BYTES + described.length + 1) / ALIGNMENT) * ALIGNMENT;
    const header = Buffer.alloc(length, ' ');
    header.write('\x93NUMPY\x01\x00', 'latin1');
    header.writeUInt16LE(length - FIXED_BYTES, FIXED_BYTES - 2);
    header.write(described, FIXED_BYTES);
    header.write('\n', length - 1);
    return header;
}
/** True if the file is there, and whole, and of the mark. */ export async function isWritten(path, mark) {
    const text = await readFile(describedBy(path), 'utf8').catch(()=>'{}');
    const isOfMark = text.includes(`"mark": "${mark}"`);
    return isOfMark && await access(path).then(()=>true, ()=>false);
}
/** A file of vectors that is written piece by piece and has its name when it is whole. */ export class VectorFile {
    path;
    partialPath;
    file;
    mark;
    rows;
    constructor(path, partialPath, file, mark, /** Rows that are written; those of a run that was stopped count. */ rows){
        this.path = path;
        this.partialPath = partialPath;
        this.file = file;
        this.mark = mark;
        this.rows = rows;
    }
    /**
   * Goes on after the last whole row of a run that was stopped.
   * @param mark what the vectors are made of: rows of another mark are not gone on from
   */ static async open(path, shape, mark) {
        const header = npyHeader(shape.rows, shape.dimension);
        const rowBytes = shape.dimension * F32_BYTES;
        const partialPath = `${path}.${mark.slice(0, 16)}.partial`;
        const file = await open(partialPath, 'a');
        try {
            const { size } = await file.stat();
            const rows = Math.max(0, Math.floor((size - header.length) / rowBytes));
            await file.truncate(size < header.length ? 0 : header.length + rows * rowBytes);
            if (size < header.length) await file.appendFile(header);
            return new VectorFile(path, partialPath, file, mark, Math.min(rows, shape.rows));
        } catch (error) {
            await file.close();
            throw error;
        }
    }
    async append(bytes, rows) {
        await this.file.appendFile(bytes);
        this.rows += rows;
    }
    /** Closes the file; it gets its name, and what made it stands beside it. */ async finish(made) {
        await this.file.datasync();
        await this.file.close();
        const { mark } = this;
        await rename(this.partialPath, this.path);
        const described = JSON.stringify(Object.assign({}, made, {
            mark
        }), null, 2);
        await writeFile(describedBy(this.path), `${described}\n`);
    }
    close() {
        return this.file.close();
    }
}
/** `vectors.json` of `vectors.npy`. */ const describedBy = (path)=>`${path.replace(/\.npy$/, '')}.json`;

//# sourceMappingURL=vector-file.js.map