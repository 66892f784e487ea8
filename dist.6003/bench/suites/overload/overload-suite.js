import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { staged } from "../suite.js";
import { floods } from "./floods.js";
import { edgeBound, engineBound } from "./goodput.js";
import { hostileQueries } from "./hostile-queries.js";
const STAGES = {
    engine: engineBound,
    edge: edgeBound,
    floods,
    hostile: inFolder
};
export const OVERLOAD_STAGES = Object.keys(STAGES);
async function inFolder(context) {
    const folder = mkdtempSync(join(tmpdir(), 'tessera-hostile-'));
    try {
        return await hostileQueries(context, folder);
    } finally{
        rmSync(folder, {
            recursive: true,
            force: true
        });
    }
}
/** The work of an overloaded service; the load comes from another process. */ export const overloadSuite = staged(STAGES);

//# sourceMappingURL=overload-suite.js.map