import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
export const DEMO_USERS_FILE = join(repositoryRoot, 'models', 'demo', 'users.json');
const USERS_MAX = 200;
/** Users that the demo's model can recall for. */ export function demoUserIds() {
    return Object.keys(JSON.parse(readFileSync(DEMO_USERS_FILE, 'utf8'))).slice(0, USERS_MAX);
}

//# sourceMappingURL=demo-users.js.map