import { OPEN_RECALLS, ROLLED_RECALLS, viewStatements } from "../../../facts/src/index.js";
import { DUCKDB } from "../domain/dialect.js";
/** A folder of facts in a database of this process, for programs that have nothing else to do. */ export class DuckdbStore {
    instance;
    connection;
    dialect = DUCKDB;
    /** @param settings of the database, e.g. threads; left out: its own */ static async open(folder, settings) {
        const { DuckDBInstance } = await import("@duckdb/node-api");
        const instance = await DuckDBInstance.create(':memory:', settings);
        const connection = await instance.connect();
        for (const statement of viewStatements(folder, []))await connection.run(statement);
        return new DuckdbStore(instance, connection);
    }
    constructor(instance, connection){
        this.instance = instance;
        this.connection = connection;
    }
    async rows(statements) {
        const answers = [];
        for (const statement of statements){
            const reader = await this.connection.runAndReadAll(statement);
            answers.push(reader.getRowObjectsJson());
        }
        return answers;
    }
    async hours() {
        return {
            rolled: ROLLED_RECALLS,
            open: OPEN_RECALLS
        };
    }
    close() {
        this.connection.closeSync();
        this.instance.closeSync();
    }
}

//# sourceMappingURL=duckdb-store.js.map