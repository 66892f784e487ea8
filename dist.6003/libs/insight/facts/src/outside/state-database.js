import { open, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FILE_SYSTEM, overwriteFile, wipeFile } from "../../../../ops/files/src/index.js";
import { MEBIBYTE } from "../../../../ops/units/src/index.js";
import { tableDefinition } from "../domain/fact-tables.js";
import { KEYS_FILE, quoted, STATE_FILE } from "./fact-folder.js";
import { Pseudonyms } from "./pseudonyms.js";
const NEXT = '.next';
const KEYS_AT_ONCE = 10_000;
const TABLES = [
    'item_version',
    'version'
];
/** A database in memory, with the one beside the facts as `state`. */ export async function openDatabase(path, memoryBytes) {
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const instance = await DuckDBInstance.create(':memory:', {
        threads: '1',
        memory_limit: `${Math.max(1, Math.floor(memoryBytes / MEBIBYTE))}MiB`,
        temp_directory: join(path, 'spilled'),
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false'
    });
    const connection = await instance.connect();
    const state = join(path, STATE_FILE);
    for (const wal of [
        '',
        '.wal'
    ])await wipeFile(`${state}${NEXT}${wal}`);
    await connection.run(`ATTACH ${quoted(state)} AS state`);
    for (const name of TABLES)await connection.run(tableDefinition(name, 'state.'));
    const pseudonyms = await Pseudonyms.open(join(path, KEYS_FILE));
    if (await hasKeys(connection)) {
        await takeKeys(connection, pseudonyms);
        await rewrite(connection, state);
    }
    return {
        instance,
        connection,
        pseudonyms
    };
}
/** A release before kept the keys here, with the IDs of users in clear. */ async function hasKeys(connection) {
    const sql = "SELECT 1 FROM duckdb_tables() WHERE database_name = 'state' AND table_name = 'pseudonym'";
    return (await connection.runAndReadAll(sql)).getRowsJson().length > 0;
}
async function takeKeys(connection, pseudonyms) {
    let last = '';
    for(;;){
        const reader = await connection.runAndReadAll('SELECT user_id, key FROM state.pseudonym WHERE user_id > $1 ORDER BY user_id ' + `LIMIT ${KEYS_AT_ONCE}`, [
            last
        ]);
        const keys = reader.getRowsJson().map(([id, key])=>[
                String(id),
                String(key)
            ]);
        await pseudonyms.take(keys);
        const [end] = keys.at(-1) ?? [];
        if (end === undefined) return;
        last = end;
    }
}
/** DuckDB leaves what it deletes in its file: a new one takes its place, and its bytes go. */ async function rewrite(connection, state) {
    const next = `${state}${NEXT}`;
    await connection.run(`ATTACH ${quoted(next)} AS next`);
    for (const name of TABLES){
        await connection.run(tableDefinition(name, 'next.'));
        await connection.run(`INSERT INTO next.${name} SELECT * FROM state.${name}`);
    }
    await connection.run('CHECKPOINT next');
    await connection.run('DETACH next');
    await connection.run('DETACH state');
    // Its log is in it since it was detached: a log would be taken for that of the new one.
    await wipeFile(`${state}.wal`);
    const before = await open(state, 'r+');
    try {
        const file = await open(next, 'r');
        await file.sync().finally(()=>file.close());
        await rename(next, state);
        await FILE_SYSTEM.syncFolder(dirname(state));
        await overwriteFile(before);
    } finally{
        await before.close();
    }
    await connection.run(`ATTACH ${quoted(state)} AS state`);
}
/** Bytes that the database and the keys take. */ export async function stateBytes(path) {
    const size = (name)=>stat(join(path, name)).then((found)=>found.size, ()=>0);
    return await size(STATE_FILE) + await size(KEYS_FILE);
}

//# sourceMappingURL=state-database.js.map