import { tableDefinition } from "../domain/fact-tables.js";
/** Versions by the time at which each state of them was seen first. */ export class Versions {
    connection;
    isDirty = true;
    constructor(connection){
        this.connection = connection;
    }
    static async open(connection) {
        await connection.run(tableDefinition('version', 'state.'));
        return new Versions(connection);
    }
    /** Those whose newest state is another one. */ async note(rows) {
        for (const { timeMs, kind, digest, name, state, parent } of rows){
            const reader = await this.connection.runAndReadAll('SELECT state FROM state.version WHERE kind = $1 AND digest = $2 AND name = $3 ' + 'ORDER BY time DESC LIMIT 1', [
                kind,
                digest,
                name
            ]);
            if (reader.getRowsJson()[0]?.[0] === state) continue;
            await this.connection.run('INSERT INTO state.version VALUES (make_timestamp_ms($1::BIGINT), $2, $3, $4, $5, $6)', [
                BigInt(timeMs),
                kind,
                digest,
                name,
                state,
                parent
            ]);
            this.isDirty = true;
        }
    }
}

//# sourceMappingURL=versions.js.map