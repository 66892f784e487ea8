import { TesseraError } from "../../../../ops/errors/src/index.js";
import { CLICKHOUSE } from "../domain/dialect.js";
/** Tables of facts in ClickHouse (deploy/analytics), over its HTTP interface. */ export class ClickHouseStore {
    address;
    dialect = CLICKHOUSE;
    constructor(address){
        this.address = address;
    }
    async rows(statements, signal) {
        const answers = [];
        for (const statement of statements)answers.push(await this.ask(statement, signal));
        return answers;
    }
    async hours() {
        return {
            rolled: 'recall_fact',
            open: ''
        };
    }
    async ask(sql, signal) {
        const { url, database, user, password } = this.address;
        const settings = {
            database,
            readonly: '2',
            output_format_json_quote_64bit_integers: '0'
        };
        const reply = await fetch(`${url}/?${new URLSearchParams(settings)}`, {
            method: 'POST',
            headers: {
                'x-clickhouse-user': user,
                'x-clickhouse-key': password
            },
            body: `${sql} FORMAT JSONEachRow`,
            ...signal && {
                signal
            }
        }).catch((cause)=>{
            throw new TesseraError('STORE_UNAVAILABLE', `clickhouse: ${String(cause)}`, {
                cause
            });
        });
        const text = await reply.text();
        if (!reply.ok) throw new TesseraError('STORE_UNAVAILABLE', `clickhouse: ${text.slice(0, 500)}`);
        return text.split('\n').filter((line)=>line !== '').map((line)=>JSON.parse(line));
    }
}

//# sourceMappingURL=clickhouse-store.js.map