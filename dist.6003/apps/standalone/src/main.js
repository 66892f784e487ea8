import { FLAG_LINES } from "../../../libs/ops/config/src/index.js";
import { runProcess } from "../../../libs/ops/lifecycle/src/index.js";
const USAGE = `usage: npm start -- [flags]
${FLAG_LINES}
  --behaviours HOST:PORT  ask a feature process for behaviours (behaviours.remote)
Every key and its variable: docs/operate/configuration.md`;
// Modules take their time to load: a bad configuration is reported before.
runProcess(USAGE, async ({ config }, isJsonLog)=>{
    const { start } = await import("./start.js");
    await start(config, isJsonLog);
});

//# sourceMappingURL=main.js.map