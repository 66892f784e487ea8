import { createRecallRuntime, ROW_BUDGET_MAX } from "../../libs/service/recall/src/index.js";
import { rowsAt } from "../evaluate/rows.js";
import { requestOf, unhurried } from "./throughput.js";
const SHARE = 0.99;
/** Of what the histories took: others take more. */ const RESERVE = 1.25;
/** The advice is a multiple of it. */ const STEP = 32;
/** Rows that a history may take while it is measured: flat models never end. */ const MEASURED_ROWS_MAX = 4096;
const HISTORIES_MAX = 500;
/** The budget of rows that is enough for all but one of a hundred certified answers. */ export function budgetOf(rows) {
    if (rows.length === 0) return undefined;
    const wanted = Math.ceil(RESERVE * rowsAt(rows, SHARE) / STEP) * STEP;
    return Math.min(ROW_BUDGET_MAX, Math.max(STEP, wanted));
}
/** Rows of the certified answers to some of the histories. */ export async function certifiedRows(options, { histories }) {
    const runtime = await createRecallRuntime(options);
    try {
        const rows = [];
        for (const history of histories.slice(0, HISTORIES_MAX)){
            const request = requestOf(history, {
                widths: [],
                search: 'certified'
            });
            const answer = await runtime.serving.recall({
                ...request,
                rowBudget: MEASURED_ROWS_MAX
            }, unhurried());
            if (answer.certified) rows.push(answer.rows);
        }
        return rows;
    } finally{
        await runtime.close();
    }
}

//# sourceMappingURL=row-budget.js.map