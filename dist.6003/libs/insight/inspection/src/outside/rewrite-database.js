import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { FILE_SYSTEM, overwriteFile, wipeFile } from "../../../../ops/files/src/index.js";
import { MEBIBYTE } from "../../../../ops/units/src/index.js";
const NEXT = '.next';
const quoted = (path)=>`'${path.replaceAll("'", "''")}'`;
/**
 * A database's file made anew of what is in it, which nobody has open: DuckDB leaves what it
 * deletes in the file, as free space or as marked rows. The bytes of the old one are overwritten. A
 * crash leaves the old one or the new one; where the disk has no room, the old one.
 */ export async function rewriteDatabase(path, memoryBytes) {
    const next = `${path}${NEXT}`;
    await clearRewrite(path);
    try {
        await copyDatabase(path, next, memoryBytes);
        const before = await open(path, 'r+');
        try {
            const made = await open(next, 'r');
            await made.sync().finally(()=>made.close());
            await wipeFile(`${path}.wal`);
            await rename(next, path);
            await FILE_SYSTEM.syncFolder(dirname(path));
            await overwriteFile(before);
        } finally{
            await before.close();
        }
    } catch (thrown) {
        await clearRewrite(path);
        throw thrown;
    }
}
/** The remains of a process that died in it. */ export async function clearRewrite(path) {
    for (const wal of [
        '',
        '.wal'
    ])await wipeFile(`${path}${NEXT}${wal}`);
}
async function copyDatabase(from, to, memoryBytes) {
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const instance = await DuckDBInstance.create(':memory:', {
        threads: '1',
        memory_limit: `${Math.max(1, Math.floor(memoryBytes / MEBIBYTE))}MiB`,
        temp_directory: `${to}.spilled`
    });
    const connection = await instance.connect();
    try {
        // Takes the log in, and with it what was written before a crash.
        await connection.run(`ATTACH ${quoted(from)} AS before`);
        await connection.run(`ATTACH ${quoted(to)} AS next`);
        await connection.run('CHECKPOINT before');
        await connection.run('COPY FROM DATABASE before TO next');
        await connection.run('CHECKPOINT next');
        await connection.run('DETACH next');
        await connection.run('DETACH before');
    } finally{
        connection.closeSync();
        instance.closeSync();
        await FILE_SYSTEM.remove(`${to}.spilled`);
    }
}

//# sourceMappingURL=rewrite-database.js.map