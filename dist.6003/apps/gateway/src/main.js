import { FLAG_LINES } from "../../../libs/ops/config/src/index.js";
import { runProcess } from "../../../libs/ops/lifecycle/src/index.js";
const USAGE = `usage: npm run gateway -- [flags]
Before the nodes of a cluster: each request goes to the node that owns its user
(docs/operate/cluster.md).
${FLAG_LINES}
Every key and its variable: docs/operate/configuration.md`;
// Modules take their time to load: a bad configuration is reported before.
runProcess(USAGE, async ({ config }, isJsonLog)=>{
    const { start } = await import("./start.js");
    await start(config, isJsonLog);
});

//# sourceMappingURL=main.js.map