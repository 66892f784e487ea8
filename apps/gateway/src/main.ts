import { FLAG_LINES } from '@tessera/config';
import { runProcess } from '@tessera/lifecycle';
import { isWorker, leadWorkers, processesOf } from './processes.js';

const USAGE = `usage: npm run gateway -- [flags]
Before the nodes of a cluster: each request goes to the node that owns its user
(docs/operate/cluster.md).
${FLAG_LINES}
  --processes N           processes that share its ports (cluster.gatewayProcesses)
Every key and its variable: docs/operate/configuration.md`;

// Modules take their time to load: a bad configuration is reported before.
runProcess(USAGE, async ({ config }, isJsonLog) => {
  const count = processesOf(config);
  if (count > 1 && !isWorker) {
    leadWorkers(count, isJsonLog);
    return;
  }
  const { start } = await import('./start.js');
  await start(config, isJsonLog);
});
