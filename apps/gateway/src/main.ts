import { FLAG_LINES, type LoadedConfig } from '@tessera/config';
import { runProcess } from '@tessera/lifecycle';
import { isWorker, leadWorkers, processesOf } from './processes.js';

const PROCESSES = '--processes';

const USAGE = `usage: npm run gateway -- [flags]
Before the nodes of a cluster: each request goes to the node that owns its user
(docs/operate/cluster.md).
${FLAG_LINES}
  ${PROCESSES} N           processes that share its ports; one for every two cores
Every key and its variable: docs/operate/configuration.md`;

/** Modules take their time to load: a bad configuration is reported before. */
async function begin(
  { config }: LoadedConfig,
  isJsonLog: boolean,
  own: ReadonlyMap<string, string>,
): Promise<void> {
  const count = processesOf(config, own.get(PROCESSES));
  if (count > 1 && !isWorker) {
    leadWorkers(count, config.log.level, isJsonLog);
    return;
  }
  const { start } = await import('./start.js');
  await start(config, isJsonLog);
}

runProcess(USAGE, begin, [], [PROCESSES]);
