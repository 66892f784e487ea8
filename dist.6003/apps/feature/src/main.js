import { FLAG_LINES } from "../../../libs/ops/config/src/index.js";
import { runProcess } from "../../../libs/ops/lifecycle/src/index.js";
const USAGE = `usage: npm run feature -- [flags]
Behaviours in over gRPC and Kafka, histories out over gRPC: the feature app as a process of its own.
${FLAG_LINES}
Every key and its variable: docs/operate/configuration.md`;
// Modules take their time to load: a bad configuration is reported before.
runProcess(USAGE, async ({ config }, isJsonLog)=>{
    const { start } = await import("./start.js");
    await start(config, isJsonLog);
});

//# sourceMappingURL=main.js.map