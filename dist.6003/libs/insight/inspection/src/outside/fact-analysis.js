import { DUCKDB } from "../../../analysis/src/index.js";
import { OPEN_RECALLS, ROLLED_RECALLS } from "../../../facts/src/index.js";
/** The facts of this machine, asked through the processes of queries. */ export class FactAnalysis {
    store;
    limits;
    dialect = DUCKDB;
    constructor(store, limits){
        this.store = store;
        this.limits = limits;
    }
    async rows(statements, signal) {
        const json = await this.store.rows(statements, this.limits, signal);
        return JSON.parse(Buffer.from(json).toString());
    }
    async hours() {
        return {
            rolled: ROLLED_RECALLS,
            open: OPEN_RECALLS
        };
    }
}

//# sourceMappingURL=fact-analysis.js.map